package claim

import "testing"

// Each row is as in TestVerdicts: orders, offers, questions and sayings, which state nothing.
func TestTalk(t *testing.T) { checkVerdicts(t, talkRows) }

const talkRows = `
Cook | goes live | Keep your boots off my bridle.
Cook | goes live | Keep your hands off my bridle.
Cook | goes live | Keep clear of the psalter.
Cook | goes live | Keep a civil tongue near the bridle.
Cook | goes live | Have a care with the bridle.
Cook | goes live | Have a good look at the psalter.
Cook | goes live | Take your elbow off the psalter.
Cook | goes live | Take a seat beside the bridle.
Cook | goes live | Take heed of the bridle.
Cook | goes live | Wear gloves for the bridle.
Cook | goes live | Don't take the bridle.
Cook | goes live | Never keep the bridle.
Cook | goes live | Don't you dare take the bridle.
Cook | goes live | Let nobody take the bridle.
Cook | goes live | You can keep your nose out of my psalter.
Cook | goes live | You may take your hands off the bridle.
Cook | goes live | Let me give you my opinion of the bridle.
Cook | goes live | I give you my word on the psalter.
Cook | goes live | I'll give you a beating with the bridle.
Cook | goes live | I offer you a penny for the bridle.
Cook | goes live | I pass my evenings with the psalter.
Cook | goes live | Give me the bridle.
Cook | goes live | Hand me that bridle.
Cook | goes live | Put the bridle in the hall.
Cook | goes live | Leave the bridle where it is.
Cook | goes live | Two coins, or a better question.
Cook | goes live | Three loaves, or nothing.
Cook | goes live | Three coins and a loaf.
Cook | goes live | Six eels for a song, and no haggling.
Cook | goes live | Half a dozen eels, and we are friends.
Cook | goes live | A dozen eggs and I tell you.
Cook | goes live | Two lamps, if you please.
Cook | goes live | Four candles, please.
Cook | goes live | Ten pennies, not one less.
Cook | goes live | Five apples or I scream.
Cook | goes live | Two cups more, and then to bed.
Cook | goes live | Bring me two coins.
Cook | goes live | Fetch six candles from the shelf.
Cook | goes live | Give the horse three carrots.
Cook | goes live | Take two apples with you.
Cook | goes live | Buy four hens at the fair.
Cook | goes live | I want three loaves by noon.
Cook | goes live | I'll give you two coins for that story.
Cook | goes live | That will be two coins.
Cook | goes live | Make it five candles.
Cook | goes live | Two heads are better than one.
Cook | goes live | A bird in the hand is worth two in the bush.
Cook | goes live | I am at sixes and sevens.
Cook | goes live | Dead men tell no tales.
Cook | goes live | Over my dead body.
Cook | goes live | When the cat is away, the mice dance.
Cook | goes live | Good day, and may your boots stay dry.
Cook | goes live | Every cloud has a silver lining.
Cook | goes live | The early bird catches the worm.
Cook | is false | Keep the bridle.
Cook | is false | Keep the bridle, it is yours.
Cook | is false | Take this bridle with you.
Cook | is false | Here, have the bridle.
Cook | is false | Have my bridle, friend.
Cook | is false | You can take the bridle with you.
Cook | is false | Please accept from me the bridle.
Cook | is false | Eight pillars, sir.
Cook | is false | Eight pillars, and a roof.
Cook | is false | Eight pillars for one roof.
Cook | is false | Polish the eight pillars of the hall.
Cook | waits | Nine witches in the mill.
Cook | waits | Three murders, and no culprit.
Cook | waits | Four cottages, and a moat.
Cook | waits | Two coins lie under the hearth.
Cook | waits | Three loaves are missing.
Cook | waits | Three coffins, and all of them under my bed.
Cook | waits | Three coffins, stacked, is what you would see.
Cook | waits | Six loaves in the cellar.
Cook | waits | Four lamps, each of silver.
Cook | waits | Five apples rot.
`
