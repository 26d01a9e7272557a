/** A row could not be measured: the message says why, and any figures are meaningless. */
export class RowFailed extends Error {
  override name = 'RowFailed';
}
