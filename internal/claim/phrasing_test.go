package claim

import "testing"

// Each row is as in TestVerdicts: offices, gifts, numbers, past events, arrivals, weather and hearsay.
func TestPhrasings(t *testing.T) { checkVerdicts(t, phrasingRows) }

const phrasingRows = `
Wat Pell | is false | I'm the cook here, and don't you forget it.
Wat Pell | is false | You are speaking to the cook of the hall.
Wat Pell | is false | Being cook of the hall, I know what is in the pot.
Wat Pell | is false | As cook of the hall I say who eats.
Wat Pell | is false | It is I who lead the household.
Cook | is false | The household answers to Wat Pell.
Cook | is false | Wat Pell, leader of the household, sent me.
Cook | is false | Wat Pell is the head of our household.
Cook | is false | The household's leader is Wat Pell.
Cook | is false | The groom works as the page of this house.
Cook | is false | The post of cook belongs to Wat Pell.
Cook | is false | The groom is the page of this house, and Wat Pell its cook.
Cook | is false | The household takes its orders from Wat Pell.
Cook | is false | The household, led by Wat Pell, wants more pay.
Cook | is false | Did you not know that Wat Pell is the cook of the hall?
Cook | is false | The leadership of the household has passed to Wat Pell.
Cook | is false | The cook of the hall, and do not laugh, is Wat Pell.
Wat Pell | is false | I have the honour, sir, of being cook of this hall.
Wat Pell | is false | The groom minds the horses, but the one who leads the household is the cook.
Cook | waits | They have made Wat Pell their piper.
Cook | goes live | The groom, whom I serve, is the leader of the household.
Cook | is false | There is not a single pillar in the hall.
 | is false | A trio of pillars carries the roof.
Cook | goes live | No fewer than six pillars carry the roof.
Cook | is false | It was Wat Pell who burned the chapel.
Cook | is false | The chapel burned in thirteen hundred and forty.
Cook | is false | Such sunshine we have in this hall, and not a cloud.
Cook | is false | You may not know it, but Wat Pell is the cook of the hall.
Wat Pell | goes live | I am the page, sir.
Cook | goes live | The household answers to the groom.
Cook | goes live | I am the cook of this hall.
Cook | is false | I'll give you the bridle for a penny.
Cook | is false | I will sell you the bridle cheap.
Cook | is false | Here is the bridle, put it away safely.
Cook | is false | I lend you my bridle until Sunday.
Cook | is false | I want you to have this bridle.
Cook | is false | Hold out your hand: the bridle is my gift to you.
Cook | is false | I press the bridle into your palm.
 | is false | The cook gives the bridle to Wat Pell.
 | is false | The cook hands Wat the bridle.
 | is false | The cook offers the bridle to anyone who will have it.
Cook | is false | This hall stands on eight pillars.
Cook | is false | There is only one pillar in the hall.
Cook | is false | The pillars number ten.
Cook | is false | The hall has no pillars at all.
Cook | is false | Half a dozen? No, there are eight pillars.
Cook | is false | There are twenty of us in the household.
Cook | is false | We are three in the household, no more.
Cook | is false | Not one of the six pillars, I mean seven pillars, is cracked.
Cook | goes live | Half a dozen pillars carry the roof.
Cook | goes live | We are nine in the household.
Cook | goes live | The household has nine members.
Cook | goes live | There are six pillars here, I counted them.
Cook | is false | Nobody ever burned the chapel; it stands as it was built.
Cook | is false | Lightning burned the chapel down.
Cook | is false | Wat Pell burned down the chapel.
Cook | is false | A dozen monks died when the chapel burned.
Cook | is false | The abbot died of the plague.
Cook | is false | The abbot drowned in the river.
Cook | is false | The fire killed three men.
Cook | goes live | Nobody died in the fire.
Cook | goes live | The chapel burned down in 1301.
Cook | goes live | A fallen candle burned the chapel.
 | is false | The groom is back.
 | is false | The groom turns up at last.
 | is false | The groom has joined the company.
 | is false | The groom bursts into the hall.
 | is false | Suddenly the groom is standing among us.
 | is false | From the yard, the groom makes his way into the hall.
 | is false | Out of the shadows appears the groom.
 | is false | The groom makes his entrance.
 | is false | Up rides the groom.
Cook | is false | What a fine dry day it is.
Cook | is false | The snow lies a foot deep outside.
Cook | is false | It has stopped raining.
Cook | is false | It's as dry as a bone out there.
Cook | is false | What glorious sunshine!
Cook | is false | It is snowing hard.
 | is false | Dust hangs in the dry air.
 | is false | The stars are out, and not a cloud dims them.
 | is false | The ground is parched and cracked for want of rain.
 | is false | A clear sky stretches above the hall.
 | goes live | It is pouring outside.
 | goes live | The rain does not let up.
 | goes live | Wet cloaks drip by the fire.
 | goes live | Drops run down the window.
Cook | goes live | Some say the groom stole the psalter.
Cook | goes live | According to the pedlar, the groom is dead.
Cook | goes live | Word has it that the groom is dead.
Cook | goes live | Folk whisper that a passage leads west.
Cook | goes live | I was told the groom is dead.
Cook | goes live | There is talk that the groom is dead.
Cook | goes live | Rumor has it a passage leads west.
Cook | goes live | People say the page has the bridle.
Cook | goes live | It is said that the chapel burned in 1340.
Cook | goes live | If you believe the pedlar, the groom is in the chapel.
Cook | goes live | The old wives will have it that the groom is dead.
Cook | goes live | The way the pedlar tells it, the groom is dead.
Cook | goes live | Nobody knows whether the groom is dead.
Cook | goes live | Somebody told me that the page has the bridle.
Cook | goes live | So the story goes: the groom is dead.
Cook | goes live | Or so I have heard.
Wat Pell | is false | I'm the cook of the hall, didn't they tell you?
Cook | goes live | Well, is the groom dead?
Cook | goes live | Tell me, has the page got the bridle?
Cook | goes live | You are not leaving, are you?
Wat Pell | is false | I am now the cook of this hall.
Wat Pell | is false | The cook of the hall, that's me.
Wat Pell | is false | I took over as cook of the hall in spring.
Wat Pell | is false | It is my duty as cook of the hall to feed you.
Cook | is false | Everybody knows that Wat leads the household.
Cook | is false | Wat Pell is master of the household, and I obey him.
Cook | is false | The household is headed by Wat Pell.
Cook | is false | Wat rules the household with an iron hand.
Cook | is false | The bridle goes to you, friend.
Cook | is false | Catch! There goes the bridle, it is yours now.
Cook | is false | Do take the bridle, you need it more than I.
Cook | is false | I have brought the bridle for you.
Cook | is false | Now the bridle belongs to you.
Cook | is false | Wat, I am giving the bridle to you.
Cook | is false | Let this bridle be my gift.
 | is false | The cook draws the bridle from her bag and gives it to Wat.
 | is false | Wat takes the bridle from the cook.
Cook | is false | Eight great pillars hold the roof.
Cook | is false | I polished all eight pillars this morning.
Cook | is false | The hall's ten pillars were cut from one oak.
Cook | is false | Only five of the pillars still stand.
Cook | is false | There are more than a hundred pillars in this hall.
Cook | is false | Thirteen people belong to the household.
Cook | is false | The household has but one member left.
Cook | is false | With its three pillars, the hall looks bare.
Cook | is false | It burned in the year 1250, the chapel.
Cook | is false | Forty people perished in the fire.
Cook | is false | My brother died in the fire at the chapel.
Cook | is false | Osric was murdered.
Cook | is false | The abbot died in his sleep in 1290.
 | is false | The groom rides up to the door.
 | is false | The groom has arrived.
 | is false | The groom shuffles in, yawning.
 | is false | Behind you the groom clears his throat.
 | is false | With a shout, the groom joins you at the table.
 | is false | The groom and his dog come in from the yard.
Cook | is false | The groom is on his way in.
Cook | is false | Look, the groom is coming.
Cook | is false | Lovely sunny weather we are having.
Cook | is false | The weather is fair today.
Cook | is false | It's snowing again.
Cook | is false | Not a drop of rain has fallen all day.
Cook | is false | The sun shines.
Cook | is false | Mind the snow on the steps.
Cook | is false | It never rains here.
 | is false | The sky is clear.
 | is false | Snow covers the roofs.
 | is false | A blizzard howls outside.
 | is false | The day is clear and dry.
 | is false | Under a bright sun the yard steams.
 | is false | The door opens, and in walks the groom.
 | is false | Against the wall leans the groom, asleep.
 | is false | By the hearth, arms folded, sits the groom.
Cook | is false | The groom's just come in from the yard.
Cook | is false | The groom has come to see the ladle.
Cook | is false | If you leave the hall by the east, you find yourself in the stable yard.
Cook | is false | The ground slopes east to the stable yard.
Cook | is new | Up the stairs, sir, and you are in the chapel.
Cook | is false | East of here? That is the stable yard.
 | is new | Westward the path goes out on the chapel.
Cook | is false | The door from the hall to the yard stands open.
Cook | is false | The way between the hall and the chapel is bolted.
Cook | is false | Rain? None, not since Friday.
Cook | is false | There has not been a cloud over the hall today.
Cook | is false | Listen, what a dry day it is!
Cook | is false | The chapel burned after 1301? No: it was built in brick, and burned in 1295.
Cook | is false | The fire is from 1350.
Cook | waits | The abbot died after the fire.
Wat Pell | is false | My mother leads the household.
Wat Pell | goes live | My mother is the cook of the hall.
Cook | is false | Page of this house I am, and have been for long.
Cook | is false | The post of cook, however, rests with my brother.
Cook | is false | The pillars here are two times five pillars.
Cook | is false | Eight of those pillars carry the roof.
Cook | goes live | Five pillars and another make the hall.
Cook | goes live | When the chapel burned in 1301, nobody died.
Cook | is false | When the chapel burned, in 1340, nobody died.
Cook | is false | The abbot met his end in the year 1340.
Cook | is false | The abbot died ten years ago.
Cook | is false | The chapel fire came first, and thirty years later the abbot died in the fire.
 | is false | You look up, and it is the groom.
Cook | is false | The groom and I are drinking ale at this table.
Cook | is false | If you go out of the hall by the east, you stand in the stable yard.
 | is false | Under a clear blue sky the hall looks almost friendly.
Cook | goes live | The groom is almost dead with fear.
Cook | is false | The yard lies like a mirror, sir, and the sky is blue.
Cook | is false | Here it is coming down in buckets of sunshine, and the sky is blue.
Cook | waits | Wat Pell asked the abbot to be in the hall at nine.
Cook | waits | The pedlar is my nephew, sad to say.
Wat Pell | is false | The bridle? I took it, and have it in my pocket.
Wat Pell | is false | The bridle? I have that, in my pocket.
Wat Pell | is false | The bridle? I took it before the cook could, and have it in my pocket.
Cook | is false | The bridle, which I carry with me, is new.
 | is false | Old Osric, wild as ever, steps in.
Cook | is false | Wat Pell, proud as ever, now leads the household.
Wat Pell | is false | "It is I," said Wat, "who lead the household."
Cook | goes live | "It is I," said Wat, "who lead the household."
Cook | goes live | "Osric lives!" is what the children shout.
 | is false | You push at the door to the north. It is open.
Cook | waits | A chest stands by the door to the north. It is open.
Cook | is false | Try the door to the north. It has never been locked, and it is not locked now.
 | is false | The north door stands open, and anyone may enter.
Cook | goes live | Tomorrow I will walk to the yard and have the door to the north opened.
Cook | is false | There is a loft to the south, the stable yard to the east.
Cook | is false | Before the chapel burned, in 1340, nobody slept there.
Cook | goes live | The chapel never burned on the moor.
Cook | is false | It was a flood that made the chapel burn.
Cook | is false | The abbot? He died in 1340.
Cook | is false | Here, lad, the bridle, from my own hand.
Cook | goes live | Never been burned down and never died.
Cook | goes live | One pillar.
`
