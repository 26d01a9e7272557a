/** The words of a text that are separated by one space each. */
export type Words<Text extends string> = Text extends `${infer First} ${infer Rest}`
  ? First | Words<Rest>
  : Text;
