import { remove as withoutLookAlikes } from 'confusables';

/**
 * A name without what people overlook: case, width, accents, look-alike letters of other scripts. No two of the staff
 * have the same. (docs/contract.md, Staff)
 */
export function foldedName(name: string): string {
  const plain = withoutLookAlikes(name.normalize('NFKC')).normalize('NFKD');
  return plain
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .replace(/\s+/gu, ' ')
    .trim()
    .toLowerCase();
}
