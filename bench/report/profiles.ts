import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The part of V8's --cpu-prof output that is read here. */
interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: Frame;
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface Frame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}

const SHOWN = 30;
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Prints, for each profile in the folder, where the time was spent: by file of the service, and by function. */
export function printProfiles(folder: string): void {
  for (const name of readdirSync(folder)
    .filter((file) => file.endsWith('.cpuprofile'))
    .sort()) {
    // V8 wrote the file (service-process.ts), so it has this form.
    const profile = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Profile;
    process.stdout.write(`\n${join(relative(ROOT, folder), name)}\n${selfTimes(profile)}\n`);
  }
}

function selfTimes({ nodes, samples, timeDeltas }: Profile): string {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const callers = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])),
  );
  const functions = new Map<string, number>();
  const files = new Map<string, number>();
  let idleUs = 0;
  let busyUs = 0;
  samples.forEach((id, index) => {
    const frame = frames.get(id);
    const spentUs = timeDeltas[index] ?? 0;
    if (frame === undefined || frame.functionName === '(idle)') {
      idleUs += spentUs;
      return;
    }
    busyUs += spentUs;
    add(functions, placeOf(frame), spentUs);
    let owner: number | undefined = id;
    while (owner !== undefined && !isOwn(frames.get(owner))) owner = callers.get(owner);
    add(files, fileOf(frames.get(owner ?? id) ?? frame), spentUs);
  });
  return [
    `busy ${(busyUs / 1e6).toFixed(1)} s of ${((busyUs + idleUs) / 1e6).toFixed(1)} s; by the file of the service that runs or calls it:`,
    ...largest(files, busyUs),
    'self time by function:',
    ...largest(functions, busyUs),
  ].join('\n');
}

function add(spent: Map<string, number>, name: string, us: number): void {
  spent.set(name, (spent.get(name) ?? 0) + us);
}

function largest(spent: ReadonlyMap<string, number>, allUs: number): string[] {
  return [...spent]
    .sort(([, a], [, b]) => b - a)
    .slice(0, SHOWN)
    .map(([name, us]) => `${((us * 100) / allUs).toFixed(1).padStart(6)} %  ${name}`);
}

function placeOf({ functionName, url, lineNumber }: Frame): string {
  const name = functionName === '' ? '(anonymous)' : functionName;
  if (url === '') return name;
  const file = url.startsWith('file://') ? relative(ROOT, fileURLToPath(url)) : url;
  return `${name}  ${file}:${lineNumber + 1}`;
}

function isOwn(frame: Frame | undefined): boolean {
  return frame?.url.includes('/dist/src/') === true;
}

/** Frames that no file of the service called belong to Node, V8 or the system. */
function fileOf(frame: Frame): string {
  if (isOwn(frame)) return relative(`${ROOT}dist`, fileURLToPath(frame.url));
  return frame.functionName === '(garbage collector)' ? frame.functionName : 'Node itself';
}
