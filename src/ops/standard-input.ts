const MAX_SECRET = 1_000;

/** Returns what standard input has, without the blanks around it; about `max` characters of a longer one. */
export async function readStandardInput(max = MAX_SECRET): Promise<string> {
  let read = '';
  for await (const piece of process.stdin.setEncoding('utf8')) {
    read += String(piece);
    if (read.length > max) break;
  }
  return read.trim();
}
