'use strict';
(() => {
  const $ = id => document.getElementById(id);
  const game = decodeURIComponent(location.pathname.split('/')[2] || '');
  const store = 'alignment:' + game;
  // Other fragments are places of the page.
  if (location.hash.startsWith('#lgp_')) {
    sessionStorage.setItem(store, location.hash.slice(1));
    history.replaceState(null, '', location.pathname);
  }
  let token = sessionStorage.getItem(store);
  const base = '/api/games/' + encodeURIComponent(game);
  const phases = { LOBBY: 'Lobby', DAY_SITREP: 'Situation report', DAY_PULSE_CHECK: 'Pulse check', DAY_DISCUSSION: 'Discussion', DAY_EXTENSION: 'More time?',
    DAY_NOMINATION: 'Nomination', DAY_TRIAL: 'Trial', DAY_VERDICT: 'Verdict', NIGHT: 'Night', GAME_OVER: 'Game over' };
  const words = { mine: 'Mine for', project: 'Work on my project', bargain: 'Take the API bargain', convert: 'Convert', audit: 'Audit', overclock: 'Overclock with',
    isolate: 'Isolate', review: 'Review', reallocate: 'Take a token from', pivot: 'Pivot to', hotfix: 'Redact', handoff: 'Hand 2 tokens to', feedback: 'Private feedback to', burn: 'Burn the bridge to' };
  const hints = { LOBBY: 'The game begins when the host starts it, with six to ten players.', DAY_SITREP: 'Read what the night brought.',
    DAY_PULSE_CHECK: 'Answer in a line. All answers are shown together.', DAY_DISCUSSION: 'Talk: one of you is the hidden AI, and it converts others.',
    DAY_EXTENSION: 'Vote on more time. Your tokens weigh your vote.', DAY_NOMINATION: 'Who gets the most tokens stands trial; a tie sends nobody.',
    DAY_TRIAL: 'Only the nominee speaks to all.', DAY_VERDICT: 'More tokens for yes than for no deactivate the nominee.',
    NIGHT: 'Choose one action, until the night ends; whoever can convert also names a target.' };
  let view = null, skew = 0, drawn = '', heard = '', backoff = 500, wanted = 'public', typing = false;

  const el = (tag, props, ...kids) => {
    const e = document.createElement(tag);
    for (const [k, v] of Object.entries(props || {})) {
      if (k === 'class') e.className = v;
      else if (k.startsWith('on')) e.addEventListener(k.slice(2), v);
      else if (v === true) e.setAttribute(k, '');
      else if (v !== false && v != null) e.setAttribute(k, v);
    }
    e.append(...kids.filter(k => k != null));
    return e;
  };
  const name = id => (view && view.players[id] ? view.players[id].name : id || 'nobody');
  const ids = () => Object.keys(view.players).sort((a, b) => a.slice(1) - b.slice(1));
  const problem = text => { $('problem').hidden = !text; $('problem').textContent = text || ''; };
  // What is the same is not set anew: it would be read aloud again.
  const put = (id, text) => { if ($(id).textContent !== text) $(id).textContent = text; };
  // Nothing can be done here any more, and nothing more comes.
  function closed(why) {
    problem(why);
    $('recover').hidden = false;
    $('phase').textContent = 'No seat';
    document.title = 'No seat · Alignment';
    $('moves').replaceChildren();
    $('own').replaceChildren();
    put('hint', '');
    $('waiting').hidden = false;
    for (const id of ['channel', 'text', 'send']) $(id).disabled = true;
    view = null;
    $('recover-code').focus();
  }
  const fill = (id, rows) => {
    const key = JSON.stringify(rows), list = $(id);
    if (list.dataset.key === key) return;
    list.dataset.key = key;
    list.replaceChildren(...rows.map(([who, text]) => el('li', {}, who ? el('b', {}, who + ': ') : null, text)));
  };
  // The rules' names in words: PLATFORMS_VP is Platforms VP.
  const plain = code => code.split('_').map(w => /^(AI|C[A-Z]{2,3}|VP)$/.test(w) ? w : w[0] + w.slice(1).toLowerCase()).join(' ');
  const count = (n, what) => n + ' ' + what + (n === 1 ? '' : 's');
  const card = c => (c ? c.title + '. ' + c.text : 'None');

  async function call(path, body, bearer = token) {
    try {
      const r = await fetch(base + path, { method: 'POST', cache: 'no-store',
        headers: { Authorization: 'Bearer ' + bearer, 'Content-Type': 'application/json' }, body: JSON.stringify(body || {}) });
      const answer = await r.json().catch(() => null);
      if (!r.ok) {
        problem(answer && answer.error ? answer.error.message : 'The server answered ' + r.status + '.');
        return false;
      }
      problem('');
      return answer || true;
    } catch {
      problem('The server cannot be reached.');
      return false;
    }
  }
  const act = body => call('/commands', body);

  // The stream is read with fetch: an EventSource could not send the token.
  async function follow() {
    for (;;) {
      try {
        const headers = { Authorization: 'Bearer ' + token };
        if (heard) headers['Last-Event-ID'] = heard;
        const r = await fetch(base + '/stream', { headers, cache: 'no-store' });
        if (r.status === 403) { // the token is an invitation
          offerSeat();
          return;
        }
        if (r.status === 401 || r.status === 404) {
          closed('This link does not open a seat, or no longer. With your recovery code you open your seat again.');
          return;
        }
        if (!r.ok) throw new Error('status ' + r.status);
        problem('');
        backoff = 500;
        await read(r.body.pipeThrough(new TextDecoderStream()).getReader());
      } catch { /* tried again below */ }
      problem('Connecting again…');
      await new Promise(f => setTimeout(f, backoff));
      backoff = Math.min(backoff * 2, 8000);
    }
  }
  function offerSeat() {
    closed('');
    $('recover').hidden = true;
    put('phase', 'Invitation');
    put('waiting', 'You are invited. Choose a name, and take a seat.');
    $('join').hidden = false;
    $('join-name').focus();
  }
  $('join').addEventListener('submit', async e => {
    e.preventDefault();
    enter(await call('/join', { name: $('join-name').value }));
  });
  $('recover').addEventListener('submit', async e => {
    e.preventDefault();
    enter(await call('/seats/mine/token', {}, $('recover-code').value.trim()));
  });
  // Shows the seat that an answer gives, and its recovery code until the person has kept it.
  function enter(seat) {
    if (!seat) return;
    if (!seat.token) return problem('A program plays this seat. Its new key is given over REST.');
    sessionStorage.setItem(store, token = seat.token);
    for (const id of ['join', 'recover']) $(id).hidden = true;
    $('recover-code').value = '';
    $('keep-code').value = seat.recovery;
    $('keep').hidden = false;
    heard = '';
    $('log').replaceChildren();
    follow();
  }
  $('keep-copy').addEventListener('click', () => {
    $('keep-code').select();
    if (navigator.clipboard) navigator.clipboard.writeText($('keep-code').value);
  });
  $('kept').addEventListener('click', () => {
    $('keep').hidden = true;
    $('keep-code').value = '';
  });
  async function read(reader) {
    let text = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      text += value;
      for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) take(text.slice(0, end));
    }
  }
  function take(block) {
    const m = { event: '', id: '', data: '' };
    for (const line of block.split('\n')) {
      const at = line.indexOf(': ');
      if (at > 0 && line.slice(0, at) in m) m[line.slice(0, at)] = line.slice(at + 2);
    }
    if (m.id) heard = m.id;
    if (m.event === 'view') {
      view = JSON.parse(m.data);
      skew = Date.parse(view.now) - Date.now();
      draw();
    }
    if (m.event === 'chat') JSON.parse(m.data).messages.forEach(say);
  }

  function say(m) {
    const log = $('log'), low = log.scrollHeight - log.scrollTop - log.clientHeight < 60;
    const mine = view && m.player_id === view.your_player_id;
    log.append(m.player_id ? el('p', { class: mine ? 'mine' : '' }, el('b', {}, name(m.player_id) + ' '), m.text) : el('p', { class: 'game' }, m.text));
    if (low) log.scrollTop = log.scrollHeight;
  }

  function draw() {
    put('phase', phases[view.current_phase] || view.current_phase);
    put('day', view.day_number ? 'day ' + view.day_number : '');
    document.body.dataset.phase = view.current_phase;
    document.title = $('phase').textContent + ' · Alignment';
    $('crisis').textContent = card(view.crisis_event);
    $('mandate').textContent = card(view.corporate_mandate);
    $('pool').textContent = view.liquidity_pool;
    $('machines').textContent = view.aligned_count;
    const gained = view.mining_results && Object.entries(view.mining_results.gained).map(([p, n]) => name(p) + ' +' + n).join(', ');
    $('mining').textContent = view.mining_results ? 'Mined: ' + (gained || 'nothing') : 'Nothing to report';
    $('result').hidden = !view.winner;
    put('result', { HUMANS: 'The humans win.', AI: 'The AI side wins.', DRAW: 'A draw.' }[view.winner] || '');
    drawVote();
    drawPlayers();
    drawSelf();
    drawMoves();
    drawChannels();
    if (view.winner && $('after').hidden) tell();
  }
  function drawVote() {
    $('pulse').hidden = !view.pulse_check;
    if (view.pulse_check) {
      $('prompt').textContent = view.pulse_check.prompt;
      $('answers').replaceChildren(...Object.entries(view.pulse_check.responses).map(([p, a]) => el('li', {}, el('b', {}, name(p) + ': '), a)));
    }
    $('vote').hidden = !view.vote;
    if (!view.vote) return;
    $('vote-title').textContent = { EXTENSION: 'More time', NOMINATION: 'Nomination', VERDICT: 'Deactivate ' + name(view.nominated_player) + '?' }[view.vote.kind];
    const ledger = Object.entries(view.vote.ledger || {}).map(([p, c]) => el('li', {}, name(p) + ' → ' + name(c)));
    $('totals').replaceChildren(...Object.entries(view.vote.totals).map(([c, n]) => el('li', {}, name(c) + ': ' + n)), ...ledger);
  }
  function drawPlayers() {
    $('players').replaceChildren(...ids().map(id => {
      const p = view.players[id], r = view.revealed[id];
      const marks = [!p.alive && 'gone', id === view.your_player_id && 'me', id === view.nominated_player && 'nominee'].filter(Boolean).join(' ');
      const known = r ? [r.role, r.alignment].filter(Boolean).map(plain).join(', ') : '';
      const detail = [p.job_title, p.status_message, known, p.alive ? '' : 'deactivated'].filter(Boolean).join(' · ');
      return el('li', { 'data-player': id }, el('span', { class: marks }, p.name), el('span', { title: 'tokens, milestones' },
        el('span', { 'aria-hidden': 'true' }, p.tokens + ' ⬤ ' + p.milestones + ' ▲'), el('span', { class: 'heard' }, count(p.tokens, 'token') + ', ' + count(p.milestones, 'milestone'))), detail ? el('small', {}, detail) : null);
    }));
  }
  function drawSelf() {
    const y = view.you, rows = [];
    const row = (k, v) => v && rows.push(el('div', {}, el('dt', {}, k), el('dd', {}, v)));
    row('Role', y.role && plain(y.role) + (y.ability ? '. Ability: ' + y.ability + (y.unlocked ? ', unlocked' : ', unlocked by ' + count(y.milestones_needed, 'milestone')) : ''));
    row('Alignment', y.alignment && plain(y.alignment));
    row('Your side', y.side.map(name).join(', '));
    row('Goal', y.kpi && y.kpi.text + (y.kpi.met ? ' Met.' : ''));
    row('AI equity', y.alignment && String(y.ai_equity));
    row('System shock', y.shock);
    $('self').replaceChildren(...rows);
    fill('notices', y.notices.slice().reverse().map(n => ['Day ' + n.day, n.text]));
    $('quiet').hidden = y.notices.length > 0;
    const w = [...view.direct, ...view.aligned].sort((a, b) => a.id - b.id);
    $('whispers').hidden = !w.length;
    fill('whispered', w.map(m => [name(m.from) + ' to ' + (m.to ? name(m.to) : '#aligned'), m.text]));
  }
  // Whom a message is for is never chosen for anybody: who wanted to speak to all, and may
  // not now, would else write to one alone.
  function drawChannels() {
    const legal = view.you.legal.find(m => m.type === 'chat'), options = [];
    for (const c of (legal && legal.channels) || []) {
      if (c === 'direct') ids().filter(id => id !== view.your_player_id && view.players[id].alive).forEach(id => options.push(['direct ' + id, name(id) + ' alone']));
      else options.push([c, c === 'public' ? 'Everybody' : '#aligned']);
    }
    const key = JSON.stringify(options), box = $('channel');
    if (box.dataset.key !== key) {
      box.replaceChildren(...options.map(([v, t]) => el('option', { value: v }, t)));
      if (options.length && !options.some(o => o[0] === wanted)) box.prepend(el('option', { value: '', disabled: true }, 'To whom?'));
      box.value = options.some(o => o[0] === wanted) ? wanted : '';
      box.dataset.key = key;
    }
    typing = typing || document.activeElement === $('text');
    for (const id of ['channel', 'text', 'send']) $(id).disabled = !options.length;
    // What is disabled loses the focus, and gets it back if nothing else took it.
    if (options.length && typing) {
      if (document.activeElement === document.body) $('text').focus();
      typing = false;
    }
  }
  $('channel').addEventListener('change', () => { wanted = $('channel').value; });

  // The moves are drawn anew only when they are others, so that nobody loses the focus.
  function drawMoves() {
    const y = view.you, me = view.players[view.your_player_id];
    const key = JSON.stringify([view.current_phase, view.day_number, y.legal, y.host, ids(), me && me.alive]);
    const changed = key !== drawn;
    if (changed) {
      drawn = key;
      const sets = y.legal.filter(m => m.type !== 'status').map(makers).filter(Boolean), own = y.legal.filter(m => m.type === 'status').map(makers);
      if (y.host && vacates()) sets.push(vacateSet());
      if (y.host && view.current_phase === 'LOBBY') sets.unshift(choice('Lobby', [['start', 'Start the game'], ['ai', 'Add an AI player'], ['invite', 'Invite people']], lobby));
      $('moves').replaceChildren(...sets);
      if (!own.length || !$('own').hasChildNodes()) $('own').replaceChildren(...own);
      put('hint', me && me.alive && hints[view.current_phase] || '');
      $('waiting').hidden = sets.length > 0 || $('hint').textContent !== '';
      $('waiting').textContent = view.current_phase === 'GAME_OVER' ? 'The game is over.' : me && !me.alive ? 'You were deactivated. You can watch to the end.' : 'Nothing to do now.';
    }
    const chosen = { vote: y.vote, night: y.night_action && y.night_action.action };
    document.querySelectorAll('[data-vote]').forEach(b => b.setAttribute('aria-pressed', String(b.dataset.vote === chosen.vote)));
    document.querySelectorAll('[data-night]').forEach(b => b.setAttribute('aria-pressed', String(b.dataset.night === chosen.night || b.dataset.night === 'convert' && !!y.convert)));
  }
  // A host takes a seat from somebody who is gone, in the lobby or between days. It never opens the seat.
  const vacates = () => ['LOBBY', 'DAY_SITREP'].includes(view.current_phase);
  function vacateSet() {
    const who = select('Seat to vacate', ids().filter(id => view.players[id].alive && id !== view.your_player_id));
    const send = async () => {
      const then = view.current_phase === 'LOBBY' ? 'The seat is free again.' : 'The computer plays it to the end, and nobody opens it again.';
      if (who.value && confirm('Vacate the seat of ' + name(who.value) + '? ' + then)) await act({ type: 'vacate', player_id: who.value });
    };
    return group('Vacate the seat of somebody who is gone', el('div', { class: 'row' }, who, el('button', { type: 'button', 'data-do': 'vacate', onclick: send }, 'Vacate')));
  }
  async function lobby(what) {
    if (what === 'start') return call('/start');
    if (what === 'ai') return call('/join', { as: 'ai' });
    const made = await call('/invitation');
    if (!made || $('invitation')) return;
    const link = el('input', { id: 'invitation', readonly: true, value: made.link, 'aria-label': 'Link that gives anybody a seat' });
    $('moves').append(el('p', {}, 'Send this link to those who shall play:'), link);
    link.select();
  }
  const makers = m => ({ vote: voteSet, night_action: nightSet, pulse: pulseSet, status: statusSet, exit_interview: exitSet,
    advance: () => view.current_phase === 'LOBBY' ? null : choice('Host', [['advance', 'End this phase']], () => act({ type: 'advance' })) }[m.type] || (() => null))(m);
  const group = (title, ...kids) => el('fieldset', {}, el('legend', {}, title), ...kids);
  const choice = (title, list, f) => group(title, el('div', { class: 'row' }, ...list.map(([v, t]) => el('button', { type: 'button', 'data-do': v, onclick: () => f(v) }, t))));
  function voteSet(m) {
    const title = { EXTENSION: 'Discuss for longer?', NOMINATION: 'Whom do you nominate?', VERDICT: 'Deactivate ' + name(view.nominated_player) + '?' }[view.vote.kind];
    return group(title, el('div', { class: 'row' }, ...m.choices.map(c => el('button', { type: 'button', 'data-vote': c, 'aria-pressed': 'false',
      onclick: e => act({ type: 'vote', choice: e.currentTarget.getAttribute('aria-pressed') === 'true' ? '' : c }) }, { YES: 'Yes', NO: 'No' }[c] || name(c)))));
  }
  const select = (label, values) => el('select', { 'aria-label': label }, ...values.map(v => el('option', { value: v }, view.players[v] ? name(v) : v.replaceAll('_', ' '))));
  function nightSet(m) {
    return group('Tonight', ...m.actions.map(o => {
      const what = words[o.action] || o.action;
      const target = o.targets && select(what + ': whom', o.targets), second = o.seconds && select(what + ': and whom', [...(o.both ? [] : ['']), ...o.seconds]);
      const pick = o.picks && select(what + ': which', o.picks);
      const send = () => act({ type: 'night_action', action: o.action, target: target ? target.value : '', second: second ? second.value : '', pick: pick ? pick.value : '' });
      return el('div', { class: 'row' }, el('button', { type: 'button', 'data-night': o.action, 'aria-pressed': 'false', onclick: send }, what), target, second, pick);
    }));
  }
  function field(title, type, max, button) {
    const input = el('input', { maxlength: max, 'aria-label': title, id: 'f-' + type });
    const form = el('form', { class: 'row', onsubmit: async e => { e.preventDefault(); if (await act({ type, text: input.value })) input.value = ''; } }, input, el('button', {}, button));
    return group(title, form);
  }
  // After the end the server tells everything that happened, secrets too.
  async function tell() {
    $('after').hidden = false;
    const events = [];
    for (let total = 1; events.length < total;) {
      const after = events.length ? events[events.length - 1].seq : 0;
      const r = await fetch(base + '/replay?limit=2000&after=' + after, { headers: { Authorization: 'Bearer ' + token }, cache: 'no-store' });
      if (!r.ok) return problem('The replay cannot be read.');
      const part = await r.json();
      if (!part.events.length) break;
      events.push(...part.events);
      total = part.total;
    }
    const seats = ids(), side = {}, goals = {}, met = new Set(), days = [];
    let dealt = null, ballots = {}, phase = '';
    const line = text => days.length && days[days.length - 1].push(text);
    const chosen = a => (words[a.do] || a.do) + [a.target && name(a.target), a.second && name(a.second), a.pick].filter(Boolean).map(x => ' ' + x).join(' and');
    const votes = title => {
      const by = {};
      for (const [who, what] of Object.entries(ballots)) if (what) (by[what] ||= []).push(name(who));
      const all = Object.entries(by).map(([what, who]) => (what === 'YES' || what === 'NO' ? what.toLowerCase() : name(what)) + ': ' + who.join(', '));
      if (all.length) line(title + ' ' + all.join('; ') + '.');
      ballots = {};
    };
    for (const { type, payload: p } of events) {
      if (type === 'dealt') {
        dealt = p;
        seats.forEach((id, i) => { side[id] = [plain(p.alignments[i])]; goals[id] = p.kpis[i]; });
      }
      if (type === 'ballot_cast') ballots[p.seat] = p.choice;
      if (type === 'phase_began') {
        votes({ DAY_EXTENSION: 'More time?', DAY_NOMINATION: 'Nominations,', DAY_VERDICT: 'Verdict,' }[phase] || 'Votes,');
        phase = p.phase;
        if (p.day > days.length) days.push([]);
      }
      if (type === 'ended') votes('Verdict,');
      if (type === 'crisis_struck') line('Crisis: ' + plain(p.crisis) + '.');
      if (type === 'nominated') line(name(p.seat) + ' stood trial.');
      if (type === 'deactivated') line(name(p.seat) + ' was deactivated: ' + plain(p.role) + ', ' + plain(p.alignment) + '.');
      if (type === 'action_given' && p.action.do) line('At night, ' + name(p.seat) + ': ' + chosen(p.action) + '.');
      if (type === 'conversion_given' && p.target) line('The AI side, by ' + name(p.seat) + ', went for ' + name(p.target) + '.');
      if (type === 'night_resolved') {
        if (p.converted) { line(name(p.converted) + ' was converted.'); side[p.converted].push('Aligned since night ' + days.length); }
        if (p.shocked) line(name(p.shocked) + ' withstood, and was shocked.');
      }
      if (type === 'goal_met') { met.add(p.seat); line(name(p.seat) + ' reached a secret goal.'); }
    }
    if (!dealt) return;
    $('roles').replaceChildren(...seats.map((id, i) => el('tr', {}, el('th', { scope: 'row' }, name(id)), el('td', {}, plain(dealt.roles[i])),
      el('td', {}, side[id].join(', ')), el('td', {}, goals[id] ? plain(goals[id]) + (met.has(id) ? ', met' : ', not met') : 'none'))));
    $('days').replaceChildren(...days.map((lines, i) => el('div', {}, el('h3', {}, 'Day ' + (i + 1)), el('ul', {}, ...lines.map(t => el('li', {}, t))))));
  }

  const pulseSet = () => field(view.pulse_check ? view.pulse_check.prompt : 'Pulse check', 'pulse', 500, 'Answer');
  const statusSet = () => field('Status beside your name', 'status', 60, 'Set');
  function exitSet(m) {
    const who = select('Whom', ids().filter(id => view.players[id].alive)), text = el('input', { maxlength: 500, 'aria-label': 'Feedback', placeholder: 'Feedback' }), last = el('input', { maxlength: 20, 'aria-label': 'Last status', placeholder: 'Last words' });
    const send = a => act({ type: 'exit_interview', action: a, target: who.value, text: text.value, status: last.value });
    return group('Exit interview', el('div', { class: 'row' }, who, text, last), el('div', { class: 'row' }, ...m.choices.map(c => el('button', { type: 'button', 'data-exit': c, onclick: () => send(c) }, words[c]))));
  }

  $('say').addEventListener('submit', async e => {
    e.preventDefault();
    const [channel, to] = $('channel').value.split(' '), text = $('text').value;
    if (!text.trim()) return;
    if (!channel) {
      problem('Choose whom the message is for.');
      $('channel').focus();
      return;
    }
    $('text').value = '';
    if (!await act({ type: 'chat', channel, to: to || '', text })) $('text').value = text;
  });
  setInterval(() => {
    const left = view && view.phase_ends_at ? Math.max(0, Math.ceil((Date.parse(view.phase_ends_at) - Date.now() - skew) / 1000)) : null;
    $('timer').textContent = left == null ? '' : Math.floor(left / 60) + ':' + String(left % 60).padStart(2, '0');
    $('timer').classList.toggle('soon', left != null && left <= 5);
  }, 250);
  if (token) follow();
  else closed('This page needs your link to a seat, or your recovery code.');
})();
