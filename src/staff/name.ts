import { remove as withoutLookAlikes } from 'confusables';

/** Folds case, width, accents and look-alike letters. (docs/contract.md, Staff) */
export function foldedName(name: string): string {
  const plain = withoutLookAlikes(name.normalize('NFKC')).normalize('NFKD');
  return plain
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .replace(/\s+/gu, ' ')
    .trim()
    .toLowerCase();
}
