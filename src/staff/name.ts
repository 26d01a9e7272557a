import { remove as withoutLookAlikes } from 'confusables';

/**
 * A name without what people overlook: case, width, accents, letters of other scripts that look the same. Two of the staff never have
 * the same. (docs/contract.md, Staff)
 */
export function foldedName(name: string): string {
  const plain = withoutLookAlikes(name.normalize('NFKC')).normalize('NFKD');
  return plain
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .replace(/\s+/gu, ' ')
    .trim()
    .toLowerCase();
}
