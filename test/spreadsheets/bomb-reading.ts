import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import assert from 'node:assert/strict';
import { crc32, constants, deflateRawSync } from 'node:zlib';
import { type ReadingLimits, WHOLE_FILE } from '../../src/spreadsheets/sheet.js';
import type { ReadApart } from './read-apart.js';
import type { ZipPart } from './workbooks.js';

export const MIB = 1024 * 1024;
const READER = fileURLToPath(new URL('./read-apart.js', import.meta.url));

/** How large the bombs are, and what reading one may cost: the service's own bounds, or the same part of every one. */
export interface BombScale {
  /** The divisor of every size and bound. */
  readonly by: number;
  /** The most memory of a process, in MiB; an empty one has about 50. */
  readonly maxRssMiB: number;
  /** No timing: a reader without bounds takes minutes. */
  readonly maxCpuMs: number;
}

/** Any file of at most 10 MiB, with the bounds of the service. */
export const FULL: BombScale = { by: 1, maxRssMiB: 200, maxCpuMs: 15_000 };
/** Small enough to detect a reader that unpacks everything at once. */
export const TENTH: BombScale = { by: 10, maxRssMiB: 100, maxCpuMs: 5_000 };

/** Reads the file in a process of its own, which has the scale's bounds, and fails where it costs more than it may. */
export async function readBomb(file: Buffer, path: string, scale: BombScale): Promise<ReadApart> {
  assert.ok(file.length <= 10 * MIB, `${file.length} bytes would not be taken`);
  writeFileSync(path, file);
  const limits = Object.entries(WHOLE_FILE).map(([name, most]: [string, number]) => [
    name,
    most / scale.by,
  ]);
  const args = [
    READER,
    path,
    JSON.stringify(Object.fromEntries(limits) satisfies Partial<ReadingLimits>),
  ];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const told = JSON.parse(stdout) as ReadApart;
  if (process.env['SHOW_BOMBS'] !== undefined) process.stderr.write(`${stdout}\n`);
  assert.ok(told.rssMiB < scale.maxRssMiB, `${told.rssMiB} MiB`);
  assert.ok(told.cpuMs < scale.maxCpuMs, `${told.cpuMs} ms`);
  return told;
}

/** A part of `head`, `unit` again and again, and `tail`, of about `size` bytes unpacked; packed in no time. */
export function filled(
  name: string,
  head: string,
  unit: string,
  tail: string,
  size: number,
): ZipPart {
  const block = Buffer.from(unit.repeat(Math.ceil(MIB / Buffer.byteLength(unit))));
  const times = Math.ceil(size / block.length);
  // Packed by itself a block refers to nothing before it, so that one is as good as another.
  const apart = (bytes: Buffer): Buffer =>
    deflateRawSync(bytes, { level: 9, finishFlush: constants.Z_FULL_FLUSH });
  const [first, last] = [Buffer.from(head), Buffer.from(tail)];
  let crc = crc32(first);
  for (let time = 0; time < times; time += 1) crc = crc32(block, crc);
  const packedBlock = apart(block);
  const blocks = Array.from({ length: times }, () => packedBlock);
  const packed = Buffer.concat([apart(first), ...blocks, deflateRawSync(last)]);
  return {
    name,
    data: '',
    packed,
    says: { crc: crc32(last, crc), size: first.length + times * block.length + last.length },
  };
}
