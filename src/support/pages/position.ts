import { asUuid, parseUuid } from '../../core/ids.js';
import { instant } from '../../core/instant.js';
import type { TimePosition } from '../../core/page.js';
import { noSuchPage } from '../desk.js';

export function printPosition(position: TimePosition | null): string | null {
  return position && `${position.createdAt}.${position.id}`;
}

/** Returns null for ''. Throws `DeskError` for other text that `printPosition` does not print. */
export function parsePosition(text: string): TimePosition | null {
  if (text === '') return null;
  const [, at = '', id = ''] = /^([0-9]{1,15})\.(.*)$/.exec(text) ?? [];
  if (parseUuid(id) === null) throw noSuchPage();
  return { createdAt: instant(Number.parseInt(at, 10)), id: asUuid(id) };
}
