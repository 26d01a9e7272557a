/** Something that the user can fix: its message is shown without a stack. */
export class UserError extends Error {}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const PLAIN_EVERY_MS = 20_000;

const running = new Set();
let quiet = false;
let frame = 0;
let ticker;

/** Shows no progress; say() and errors are still printed. */
export function beQuiet() {
  quiet = true;
}

/** Prints a line, above any progress line. */
export function say(text = '') {
  clearLine();
  process.stdout.write(`${text}\n`);
}

/** Does `work` and prints a line when this part is ready, with the seconds since the program started. */
export async function part(name, work) {
  const result = await step(name, work);
  if (!quiet) say(`✓ ${name} (${process.uptime().toFixed(1)} s)`);
  return result;
}

/** Shows `title` while `work` runs. `work` gets a function that shows its progress. */
export async function step(title, work) {
  const current = { title, detail: '', startedAt: Date.now(), nextLineMs: PLAIN_EVERY_MS };
  running.add(current);
  ticker ??= setInterval(tick, 100);
  ticker.unref();
  try {
    return await work((detail) => (current.detail = detail));
  } finally {
    running.delete(current);
    clearLine();
  }
}

function elapsed(current) {
  const seconds = (Date.now() - current.startedAt) / 1000;
  return ` (${seconds.toFixed(seconds < 10 ? 1 : 0)} s)`;
}

function describe(current) {
  return `${current.title}${elapsed(current)}${current.detail ? `: ${current.detail}` : ''}`;
}

function tick() {
  if (running.size === 0 || quiet) return;
  if (process.stdout.isTTY) {
    frame = (frame + 1) % FRAMES.length;
    const line = `${FRAMES[frame]} ${[...running].map(describe).join(' · ')}`;
    process.stdout.write(`\r\x1b[K${line.slice(0, (process.stdout.columns || 80) - 1)}`);
    return;
  }
  for (const current of running) {
    if (Date.now() - current.startedAt < current.nextLineMs) continue;
    current.nextLineMs += PLAIN_EVERY_MS;
    say(`… ${describe(current)}`);
  }
}

function clearLine() {
  if (process.stdout.isTTY && running.size + frame > 0) process.stdout.write('\r\x1b[K');
}
