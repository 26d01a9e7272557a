/** Says how far the suite is. Results alone go to stdout. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
