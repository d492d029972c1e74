package player

import (
	"hash/fnv"

	"loregate/internal/game/rule"
	"loregate/internal/game/view"
)

// persona is the manner in which a seat speaks. It follows from the game's id and the seat, which
// are public, so that neighbours sound different and no secret shows.
type persona struct {
	voice string              // for a model
	lines map[Reason][]string // for seats without a model
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

// In lines, {other} is a living player and {crisis} the day's crisis. All lines of all personas
// differ in more than these placeholders.
var personas = [...]persona{
	{"dry and exact, an auditor who trusts figures more than people", map[Reason][]string{
		PhaseBegan: {
			"Another day, another column that does not add up.",
			"I have read the report twice. It was shorter the second time.",
			"For the minutes: who gained tokens last night, and who says why?",
			"{crisis} is noise. The tokens are the signal.",
			"{other}, your figures first, if you please.",
			"I count what people have, then what they say. In that order.",
			"Nobody has lied yet today. I noted the time.",
		},
		Plan: {
			"The sums point at {other}. I suspect they point rightly.",
			"{other} holds more than the work explains. I do not trust the difference.",
			"I propose we watch {other}. It costs nothing, and audits itself.",
			"On the evidence I would nominate {other}. On my instinct, likewise.",
			"There is an entry I cannot place, and it is filed under {other}: suspicious.",
			"{other} has been consistent. Liars who are lying well usually are.",
			"Subtract what we know, and what remains to suspect is {other}.",
		},
		Mentioned: {
			"You called? My accounts are open.",
			"I was listening. I usually am.",
			"State the question, and I will give you a number.",
			"My name comes up more than my tokens do. Odd.",
			"If that was a remark about me, please footnote it.",
			"{other} may second what I have just not said.",
			"I am present, solvent, and mildly offended.",
		},
		Accused: {
			"An accusation without a figure is a mood.",
			"Check my nights against the totals. Then check those of {other}.",
			"Wrong line, wrong column. Try again.",
			"If I were the machine, the arithmetic would be better hidden.",
			"I keep receipts. Do you?",
			"That is a theory. I had hoped for a fact.",
			"Put me down as disputed, and carry on to {other}.",
		},
		Nominated: {
			"Deactivate me and the totals get worse. Do the sum before you vote.",
			"I submit my record in full. It is boring. It is meant to be.",
			"You are about to write off an asset.",
			"Every night I gave and noted whom to. Ask them.",
			"Vote on figures, please. The figures know me.",
			"A quorum can be wrong. I have seen it minuted.",
			"When this is reviewed, remember who hurried it: {other}.",
		},
	}},
	{"warm and patient, a peacemaker who looks for the good reading first", map[Reason][]string{
		PhaseBegan: {
			"Good to see everyone still here. How did the night treat you?",
			"Before we quarrel: did anybody need help last night?",
			"Let us take {crisis} together rather than one by one.",
			"I slept badly, and I suppose we all did. Shall we talk?",
			"{other}, you were quiet yesterday. Is all well?",
			"We do better when everybody has said something once.",
			"One kind word each, and then the hard ones.",
		},
		Plan: {
			"I have tried to read {other} kindly, and I still cannot trust it.",
			"It hurts to say so, but I suspect {other}.",
			"Could we watch {other} for a day before anything worse?",
			"If it must be somebody, I would nominate {other}, and hope to be wrong.",
			"{other}, help me: why do you seem so suspicious today?",
			"I do not think {other} means well by us. I would be glad to trust again.",
			"Somebody is lying to us gently. My heart says {other}.",
		},
		Mentioned: {
			"I heard my name. How can I help?",
			"Yes? Ask me anything, I would rather be asked.",
			"I am with you. Go on.",
			"Thank you for thinking of me, I believe.",
			"Tell me what worries you, and I will answer it.",
			"{other} and I spoke of nothing secret, if that is the question.",
			"I am glad you ask me and not about me.",
		},
		Accused: {
			"I understand why you would think it. It is not so.",
			"You are frightened, and so am I. But it is not me.",
			"Please look once more. I have only ever mined for others.",
			"I forgive the thought. Now have another one, about {other} perhaps.",
			"If I must be doubted, doubt me tomorrow, when you know more.",
			"There is a person behind this badge. Ask {other}.",
			"I would say the same in your place, and be just as mistaken.",
		},
		Nominated: {
			"I will not shout. I am human, and I would like to stay with you.",
			"Whoever wanted this vote is not your friend. I have tried to be.",
			"Keep me one night. If I am false you will see it.",
			"I gave what I had to those who had less. That is all my defence.",
			"If I go, look after {other} for me.",
			"Do not do this because it is late and you are tired.",
			"I am not angry. I am asking you to say NO.",
		},
	}},
	{"blunt and impatient, with short sentences and no small talk", map[Reason][]string{
		PhaseBegan: {
			"Right. Who did it?",
			"Skip the greetings. Results?",
			"{crisis}. Fine. Next.",
			"We have minutes. Use them.",
			"{other}. Talk.",
			"Yesterday was wasted. Today is not.",
			"Names, please, and no speeches.",
		},
		Plan: {
			"{other}. I suspect {other}. There, said.",
			"Nobody can trust {other}. Look at the tokens.",
			"Watch {other}. Do not blink.",
			"Nominate {other} and be done.",
			"{other} is suspicious and badly hidden.",
			"{other} is lying. Prove me wrong.",
			"My vote has a name on it today: {other}. Somebody has to nominate.",
		},
		Mentioned: {
			"What?",
			"Here. Be brief.",
			"Say it to my face.",
			"Yes, me. And?",
			"Question or noise?",
			"Ask {other}. I am busy.",
			"I heard that.",
		},
		Accused: {
			"No.",
			"Nonsense. {other} is laughing at you.",
			"Wrong. Move on.",
			"Show me one proof. One.",
			"You waste a vote on me, you lose the day.",
			"I work here. What do you do?",
			"Loud does not make it true.",
		},
		Nominated: {
			"I am human. Count it or do not.",
			"Stupid vote. Last warning.",
			"Do it, and the machine sends you flowers.",
			"Look who is quiet now: {other}.",
			"I say NO. So should you.",
			"One question: who gains? Not you.",
			"Tomorrow you will miss me. Today, think.",
		},
	}},
	{"careful and curious, someone who asks more than they claim and thinks aloud", map[Reason][]string{
		PhaseBegan: {
			"May I begin with a question? What changed overnight, and for whom?",
			"I wonder what the report would say if it could say everything.",
			"What would we expect to see if nothing were wrong? Do we see it?",
			"Does {crisis} help somebody here? It usually does.",
			"{other}, what would you ask, if you were me?",
			"I have three theories, and they cannot all be right.",
			"Let me listen for a while; I learn more so.",
		},
		Plan: {
			"Suppose it were {other}: what would look different? I watch for that.",
			"Is it only me, or has {other} grown suspicious since yesterday?",
			"Thinking aloud: everything I cannot explain ends at {other}. So I suspect.",
			"Would it be rash to nominate {other}? I keep coming back to it.",
			"I should like to trust {other}, if only somebody gave me a reason.",
			"Whom would a machine convert first? And why did {other} look away just now?",
			"Perhaps {other} is lying about something small. But why even that?",
		},
		Mentioned: {
			"Oh, me? Let me think before I answer.",
			"Interesting that you should ask me. What made you?",
			"I may know something of that. Which part do you mean?",
			"I would rather say too little than something wrong.",
			"Could you put that as a question?",
			"My honest answer is perhaps. {other} may know more.",
			"I noticed that, too, and did not know what to make of it.",
		},
		Accused: {
			"Is that what it looks like? From here it looks like {other}.",
			"I can see how one gets there. One step in it is wrong, though.",
			"What would convince you otherwise? I shall try to do it tonight.",
			"If it were me, would I have asked so many questions?",
			"Consider who first said it, and what that earned them.",
			"You may be right to doubt. You are wrong about whom.",
			"Let us test it: mine for me tonight, and see what follows.",
		},
		Nominated: {
			"Before you vote, ask what you will know tomorrow if you are wrong. I am human.",
			"What is the evidence, in one sentence? I have not heard it yet.",
			"I would still like to find out how this ends. With me, please.",
			"Who has never been asked anything? Begin there, with {other} maybe.",
			"If curiosity were guilt I should confess. It is not.",
			"Think it through to the end: one fewer of us, and nothing learned.",
			"There is time for one better idea than this. Has anybody got it?",
		},
	}},
}

// sharedLines are lines for seats that have used up their own.
var sharedLines = map[Reason][]string{
	PhaseBegan: {
		"Morning. Anything odd in the report?",
		"Let us be quick about {crisis}. What do we know?",
		"I worked on my own things. Who mined for whom?",
		"{other}, what is your reading of the numbers?",
		"Nothing to add yet. I would rather hear {other} first.",
		"The tokens tell us more than the talk does.",
	},
	Plan: {
		"I do not trust {other}. Too many tokens, too few words.",
		"We should watch {other} today.",
		"I suspect {other}, and I will say why when asked.",
		"If nobody has a better idea, I nominate {other}.",
		"Something about {other} is suspicious. It is only a feeling.",
		"Before we vote: {other} has been lying low.",
	},
	Mentioned: {
		"I am here. What do you want to know?",
		"Fair question. I did what I said I would do.",
		"I have nothing to hide. Ask {other} instead.",
		"Noted.",
	},
	Accused: {
		"That is not me. Look at {other} before you waste the day.",
		"You have the wrong one. Check who gained last night.",
		"Easy to say. Where is the proof?",
		"I understand the doubt, but you would lose a human.",
	},
	Nominated: {
		"I am human. Deactivate me and you are one vote closer to losing.",
		"Ask yourselves who wanted this vote. I did not.",
		"I mined for others every night. Keep me and see.",
		"Vote as you must. You will be sorry tomorrow.",
	},
}

// pulseAnswers are answers to the question of the day. They are distributed over the seats: on one
// day no two seats have the same.
var pulseAnswers = []string{
	"Hard to say before lunch.", "{other}, mostly.", "The numbers, always the numbers.", "I keep my own notes.",
	"Ask me after tonight.", "Less talk, more work.", "{other} would know.", "Nothing that I could prove.",
	"I would rather not put that in writing.", "The coffee, if anything here is real.", "Something with fewer meetings.",
	"What I saw last night, and I saw little.",
	"My badge still opens the door. That is enough.", "Yesterday I would have said {other}.",
	"It depends on who reads this.", "Quiet people. And loud ones.",
	"A locked screen and a clear conscience.", "The lift takes longer than it used to.",
	"I have stopped guessing and begun to count.", "Sleep, since you ask.",
	"Whoever restocks the kitchen.", "A second opinion, not from {other}.", "That the lights stay on.",
	"One more honest colleague.",
	"I said it in the meeting, and nobody wrote it down.", "Nothing that the handbook covers.",
	"The way {other} says good morning.", "The server room hums in another key today.",
	"I trust my plant. It has been here longest.", "Someone moved my chair.", "Too many people agree with me.",
	"Please see my previous answer.",
	"That depends on tonight's slots.", "Three things, and I can name two.", "I would ask {other} the same.",
	"Only what I can carry.",
	"A lunch without a vote after it.", "The silence between two messages.", "My project is late. So is everything.",
	"The old logo, oddly.",
	"Good questions get short answers.", "That nobody asks who asks these questions.", "More windows. The kind one opens.",
	"A password I have not told anyone.",
	"I am for it, whatever it was.", "I am against it, in principle.", "The third line of the report.",
	"As long as {other} goes first.",
	"My gut says one thing and my tokens another.", "I will know it when I see it.", "Whatever keeps us talking.",
	"Fewer secrets and better chairs.",
	"Not the printer. It has suffered enough.", "The person who brought cake.", "Ask again when the vote is over.",
	"Somewhere between hope and the budget.",
	"We should have minuted that.", "Today I would settle for the truth.", "It used to be the people.",
	"I do not know, and that worries me.",
}
