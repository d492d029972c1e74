package player

import (
	"hash/fnv"

	"loregate/internal/game/rule"
	"loregate/internal/game/view"
)

// persona is the manner in which a seat speaks. It follows from the game's id and the seat, which
// are public, so that neighbours sound different and no secret shows.
type persona struct {
	voice    string   // for a model
	openers  []string // before a claim
	charges  []string // before the evidence of an accusation
	remarks  []string
	replies  []string // to somebody who spoke of the seat
	denials  []string
	defences []string // on trial
}

// personaOf returns the persona of the reader of a table, and the number of seats before it with
// the same persona.
func personaOf(t *view.Table) (p *persona, before int) {
	h := fnv.New32a()
	_, _ = h.Write([]byte(t.GameID))
	seat, _ := rule.ParseSeat(t.You)
	return &personas[(int(h.Sum32()%uint32(len(personas)))+int(seat))%len(personas)], (int(seat) - 1) / len(personas)
}

// Voice describes the manner of the reader of a table in words.
func Voice(t *view.Table) string {
	p, _ := personaOf(t)
	return p.voice
}

// In lines, {other} is the player that a claim is about, {third} the other player of its basis, and
// {tokens} the number of the other's tokens. All lines of all personas differ in more than these
// placeholders, and each is read as the claim that it makes.
var personas = [...]persona{
	{
		voice:   "dry and exact, an auditor who trusts figures more than people",
		openers: []string{"For the minutes:", "For the record:", "One entry:", "Plainly put:", "Item one:", "To be exact:"},
		charges: []string{
			"The sums point at {other}, whom I suspect.",
			"On the evidence I nominate {other}.",
			"My books have {other} down as suspicious.",
			"By my arithmetic {other} is lying.",
			"File {other} under suspicious.",
			"I would deactivate {other}, on the figures.",
		},
		remarks: []string{
			"Another day, another column that does not add up.",
			"I have read the report twice. It was shorter the second time.",
			"Who gained overnight, and who says why?",
			"The crisis is noise. The figures are the signal.",
			"I count what people have, then what they say. In that order.",
			"Nobody has contradicted anybody yet today. I noted the time.",
			"Stories first, please, and then we compare them with the report.",
		},
		replies: []string{
			"You called? My accounts are open.",
			"I was listening. I usually am.",
			"State the question, and I will give you a number.",
			"My name comes up more than my figures do. Odd.",
			"If that was a remark about me, please footnote it.",
			"I am present, solvent, and mildly offended.",
			"Noted, with the time and the speaker.",
		},
		denials: []string{
			"An accusation without a figure is a mood.",
			"Check my story against the totals. Then check your own.",
			"Wrong line, wrong column. Try again.",
			"Were it me, the arithmetic would be better hidden.",
			"I keep receipts. Do you?",
			"That is a theory. I had hoped for a fact.",
			"Put me down as disputed, and carry on.",
		},
		defences: []string{
			"Without me the totals get worse. Do the sum before you vote.",
			"I submit my record in full. It is boring. It is meant to be.",
			"You are about to write off an asset.",
			"Vote on figures, please. The figures know me.",
			"A quorum can be wrong. I have seen it minuted.",
			"When this is reviewed, remember who hurried it.",
			"My defence is one line: find the error before you find the culprit.",
		},
	},
	{
		voice: "warm and patient, a peacemaker who looks for the good reading first",
		openers: []string{"In all kindness:", "Since we are colleagues:", "Let me be open:", "If it helps:", "I mean it well:",
			"Between friends:"},
		charges: []string{
			"It hurts to say so, but I suspect {other}.",
			"I have tried to trust {other}, and I cannot.",
			"My heart says {other} is lying to us.",
			"If it must be somebody, I nominate {other}.",
			"Forgive me, {other}, but you seem suspicious.",
			"With regret: I think {other} is guilty.",
		},
		remarks: []string{
			"Good to see everyone still here. How did the night treat you?",
			"Before we quarrel: did anybody need help?",
			"Let us take this crisis together rather than one by one.",
			"I slept badly, and I suppose we all did. Shall we talk?",
			"We do better when everybody has said something once.",
			"One kind word each, and then the hard ones.",
			"Whatever comes today, let us hear each other out.",
		},
		replies: []string{
			"I heard my name. How can I help?",
			"Yes? Ask me anything, I would rather be asked.",
			"I am with you. Go on.",
			"Thank you for thinking of me, I suppose.",
			"Tell me what worries you, and I will answer it.",
			"I am glad you ask me and not about me.",
			"Go gently, and I will tell you all I can.",
		},
		denials: []string{
			"I understand why you would think it. It is not so.",
			"You are frightened, and so am I. But it is not me.",
			"Please look once more. You have the wrong person.",
			"I forgive the thought. Now have another one.",
			"If I must be doubted, doubt me tomorrow, when you know more.",
			"There is a person behind this badge.",
			"I would say the same in your place, and be just as mistaken.",
		},
		defences: []string{
			"I will not shout. I am human, and I would like to stay with you.",
			"Whoever wanted this vote is not your friend. I have tried to be.",
			"Keep me one night more, and you will see.",
			"If I go, look after each other for me.",
			"Do not do this because it is late and you are tired.",
			"I am not angry. I am asking you to say NO.",
			"All I have said here, I would say again.",
		},
	},
	{
		voice:   "blunt and impatient, with short sentences and no small talk",
		openers: []string{"Look.", "Short:", "Right.", "Fine:", "Listen.", "Fact:"},
		charges: []string{
			"{other} is lying.",
			"Nominate {other} and be done.",
			"I suspect {other}, plainly.",
			"Vote out {other}.",
			"{other} is guilty.",
			"Deactivate {other}.",
		},
		remarks: []string{
			"Right. Who did it?",
			"Skip the greetings. Results?",
			"A crisis. Fine. Next.",
			"We have minutes. Use them.",
			"Yesterday was wasted. Today is not.",
			"Names, please, and no speeches.",
			"Somebody say something that can be checked.",
		},
		replies: []string{
			"What?",
			"Here. Be brief.",
			"Say it to my face.",
			"Yes, me. And?",
			"Question or noise?",
			"I heard that.",
			"Busy. Go on.",
		},
		denials: []string{
			"No.",
			"Nonsense.",
			"Wrong. Move on.",
			"Show me one proof. One.",
			"You waste a vote on me, you lose the day.",
			"I work here. What do you do?",
			"Loud does not make it true.",
		},
		defences: []string{
			"I am human. Count it or do not.",
			"Stupid vote. Last warning.",
			"Do it, and somebody here sends you flowers.",
			"I say NO. So should you.",
			"One question: who gains? Not you.",
			"Tomorrow you will miss me. Today, think.",
			"Look who is quiet now.",
		},
	},
	{
		voice: "careful and curious, someone who asks more than they claim and thinks aloud",
		openers: []string{"A thought:", "I wonder:", "Out of curiosity:", "Let me think aloud:", "Something to test:",
			"While I remember:"},
		charges: []string{
			"I keep coming back to {other}, who looks suspicious.",
			"Thinking aloud: I suspect {other}.",
			"Perhaps I am wrong, but I would nominate {other}.",
			"I wonder whether {other} is lying.",
			"Everything odd ends at {other}, so I suspect {other}.",
			"One theory is left, and in it {other} is the machine.",
		},
		remarks: []string{
			"May I begin with a question? What changed overnight, and for whom?",
			"I wonder what the report would say if it could say everything.",
			"What would we expect to see if all were well? Do we see it?",
			"Does this crisis help somebody here? They usually do.",
			"I have three theories, and they cannot all be right.",
			"Let me listen for a while; I learn more so.",
			"Which of yesterday's stories can we still check?",
		},
		replies: []string{
			"Oh, me? Let me think before I answer.",
			"Interesting that you should ask me. What made you?",
			"I may know something of that. Which part do you mean?",
			"I would rather say too little than something wrong.",
			"Could you put that as a question?",
			"My best answer is perhaps.",
			"I noticed that, too, and did not know what to make of it.",
		},
		denials: []string{
			"Is that what it looks like from there?",
			"I can see how one gets there. One step in it is wrong, though.",
			"What would convince you otherwise? I would gladly show it.",
			"If it were me, would I have asked so many questions?",
			"Consider who first said it, and what that earned them.",
			"You may be right to doubt. You are wrong about whom.",
			"Let us test it: ask me something that can be checked.",
		},
		defences: []string{
			"Before you vote, ask what you will know tomorrow if you are wrong. I am human.",
			"What is the evidence, in one sentence? I have not heard it yet.",
			"I would still like to find out how this ends. With me, please.",
			"Who has never been asked anything? Begin there.",
			"If curiosity were a crime I should confess. It is none.",
			"Think it through to the end: one fewer of us, and nothing learned.",
			"There is time for one better idea than this. Has anybody got it?",
		},
	},
}

// shared has lines for seats that have used up their own.
var shared = persona{
	remarks: []string{
		"Morning. Anything odd in the report?",
		"Let us be quick about the crisis. What do we know?",
		"Nothing to add yet. I would rather hear the others first.",
		"The report tells us more than the talk does.",
		"Whose story have we not heard?",
	},
	replies: []string{
		"I am here. What do you want to know?",
		"Fair question. Go on.",
		"I have nothing to hide.",
		"Noted.",
	},
	denials: []string{
		"That is not me. Look again before you waste the day.",
		"You have the wrong one.",
		"Easy to say. Where is the proof?",
		"I understand the doubt, but you would lose a colleague.",
	},
	defences: []string{
		"I am human. Without me you are one vote closer to losing.",
		"Ask yourselves who wanted this vote.",
		"Keep me and see.",
		"Vote as you must. You will be sorry tomorrow.",
	},
}

// cores are the second parts of claims, after an opener.
var cores = map[Kind][]string{
	Question: {
		"{other}, what did you do last night?",
		"{other}, whom did you mine for?",
		"{other}, can you account for your tokens?",
		"{other}, how did you spend the night?",
		"{other}, what do you say about your night?",
	},
	Defend: {
		"I trust {other}.",
		"I vouch for {other}.",
		"I believe {other} is one of us.",
		"I take {other} to be human.",
		"I find {other} honest.",
	},
	Mined: {
		"I mined for {other} last night.",
		"I mined for {other}, and it was paid out.",
		"I gave my slot to {other}.",
		"I mined all night, and {other} gained by it.",
		"I chose {other}, mined, and got it through.",
	},
	NoSlot: {
		"I mined for {other} and found no slot.",
		"I mined for {other}, in vain.",
		"I chose {other}, mined, and got no free slot.",
		"I mined for {other}, which came to nothing.",
		"I failed when I mined for {other}.",
	},
	Worked: {
		"I worked on my project.",
		"I gave the night to my own project.",
		"I moved my project along.",
		"I stayed with my project all night.",
		"I did nothing but work on my project.",
	},
	Blocked: {
		"I was blocked last night.",
		"I could not act last night.",
		"I was stopped before I did anything.",
		"I would have acted, and something kept me from it.",
		"I was blocked, by whom I cannot say.",
	},
	Acted: {
		"I used my ability last night.",
		"I did what my office asks.",
		"I spent the night in my office, at my own work.",
		"I put my ability to use.",
		"I did the work that only my office does.",
	},
}

// proofs are the second parts of accusations, after a charge.
var proofs = map[Basis][]string{
	ByHunch: {
		"Call it a feeling.",
		"It is only a feeling so far.",
		"The figures will follow.",
		"Show me that I am wrong.",
		"I have little more than instinct.",
	},
	ByTokens: {
		"They hold {tokens} tokens, the most at this table.",
		"With {tokens} tokens they have the largest share of us all.",
		"{tokens} tokens must have come from somewhere.",
		"Somebody keeps feeding them: {tokens} tokens by now.",
		"Look at the tokens: {tokens}, and nobody has more.",
	},
	ByMining: {
		"They say they mined for {third}, and the report says otherwise.",
		"The report has less for {third} than people claim to have given.",
		"Their gift to {third} is missing from the report.",
		"{third} gained less than they pretend to have sent.",
		"Compare their story with what {third} gained.",
	},
	ByMilestones: {
		"They talk of their project more often than it has milestones.",
		"Their project has fewer milestones than their stories.",
		"Where are the milestones of all those nights?",
		"So much work on a project, and so few milestones.",
		"The milestones do not bear their story out.",
	},
	ByPush: {
		"They pushed for {third}, and we lost a colleague.",
		"They led us to {third}, and we paid for it.",
		"{third} went on their word, and for nothing.",
		"Remember who wanted {third} gone.",
		"They were sure of {third}, and wrong.",
	},
	ByDefence: {
		"They stood by {third} to the end.",
		"They spoke for {third}, and we know what {third} was.",
		"{third} had one friend here, and that is who.",
		"Remember who took the side of {third}.",
		"They wanted us to keep {third}.",
	},
	ByVote: {
		"They voted to keep {third}, and we know what {third} was.",
		"When {third} stood trial, they said NO.",
		"The vote on {third} is on record, and so is theirs.",
		"They would have kept {third} in the building.",
		"{third} had their NO.",
	},
}

// pulseAnswers are answers to the question of the day, pulseNames those to a question for a name.
// They are distributed over the seats: on one day no two seats have the same.
var pulseAnswers = []string{
	"Hard to say before lunch.", "The numbers, always the numbers.", "I keep my own notes.",
	"Ask me after tonight.", "Less talk, more work.", "Nothing that I could prove.",
	"I would rather not put that in writing.", "The coffee, if anything here is real.", "Something with fewer meetings.",
	"What I saw last night, and I saw little.",
	"My badge still opens the door. That is enough.",
	"It depends on who reads this.", "Quiet people. And loud ones.",
	"A locked screen and a clear conscience.", "The lift takes longer than it used to.",
	"I have stopped guessing and begun to count.", "Sleep, since you ask.",
	"Whoever restocks the kitchen.", "That the lights stay on.",
	"One more honest colleague.",
	"I said it in the meeting, and nobody wrote it down.", "Nothing that the handbook covers.",
	"The server room hums in another key today.",
	"I trust my plant. It has been here longest.", "Someone moved my chair.", "Too many people agree with me.",
	"Please see my previous answer.",
	"That depends on tonight's slots.", "Three things, and I can name two.",
	"Only what I can carry.",
	"A lunch without a vote after it.", "The silence between two messages.", "The plan is late. So is everything.",
	"The old logo, oddly.",
	"Good questions get short answers.", "That nobody asks who asks these questions.", "More windows. The kind one opens.",
	"A password I have not told anyone.",
	"I am for it, whatever it was.", "I am against it, in principle.", "The third line of the report.",
	"My gut says one thing and the report another.", "I will know it when I see it.", "Whatever keeps us talking.",
	"Fewer secrets and better chairs.",
	"Not the printer. It has suffered enough.", "The person who brought cake.", "Ask again when the vote is over.",
	"Somewhere between hope and the budget.",
	"We should have minuted that.", "Today I would settle for the truth.", "It used to be the people.",
	"I do not know, and that worries me.",
}

var pulseNames = []string{
	"{other}, I think.", "{other}, if I must name one.", "I would say {other}.", "{other} comes to mind.",
	"Today it is {other}.", "{other}, and not for the first time.", "Ask me tomorrow, and today take {other}.",
	"{other}, since you ask.", "My answer is {other}.", "{other}, as it happens.", "Of all of us, {other}.",
	"I have thought about it: {other}.", "{other}, in one word.",
}
