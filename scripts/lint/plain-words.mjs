/** Words with which a docstring refers to the declaration above or below it. */
const BACK_REFERENCE =
  /^(it|they|its|their|the same|like|so|such|those|these|also|both|whose|what|whatever)\b/i;

/** Phrases after which a reader has to search for the subject. */
const UNCLEAR = [
  /\b(nobody|somebody|whoever|whomever|whatever)\b/i,
  /\b(so (many|few|much)|such (a|an|is|are))\b/i,
  /\b(is|are|was|were) (no(?! longer)|none|nothing)\b/i,
];

/** The comment's text in one line, without asterisks and code. */
function textOf(comment) {
  return comment.value
    .replaceAll(/^\s*\*+ ?/gm, '')
    .replaceAll(/`[^`]*`/g, 'X')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

function faultOf(comment) {
  const text = textOf(comment);
  const isDocstring = comment.type === 'Block' && comment.value.startsWith('*');
  const opening = isDocstring ? BACK_REFERENCE.exec(text) : null;
  if (opening !== null)
    return `Begin the docstring with a verb or a noun instead of "${opening[0]}", because it is read without its context.`;
  const unclear = UNCLEAR.map((pattern) => pattern.exec(text)).find((found) => found !== null);
  if (unclear === undefined) return null;
  return `Name the person or the thing instead of "${unclear[0]}".`;
}

/** An ESLint rule that reports comments which a reader has to solve instead of read. */
export const plainWords = {
  meta: { type: 'suggestion', schema: [] },
  create: (context) => ({
    Program() {
      for (const comment of context.sourceCode.getAllComments()) {
        const message = faultOf(comment);
        if (message !== null) context.report({ loc: comment.loc, message });
      }
    },
  }),
};
