import { remove as withoutLookAlikes } from 'confusables';

/** Without case, width, accents and look-alikes: no two of the staff have the same. (docs/contract.md, Staff) */
export function foldedName(name: string): string {
  const plain = withoutLookAlikes(name.normalize('NFKC')).normalize('NFKD');
  return plain
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .replace(/\s+/gu, ' ')
    .trim()
    .toLowerCase();
}
