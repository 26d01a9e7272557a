/** A row could not be measured: its message says why, and what figures there are mean nothing. */
export class RowFailed extends Error {
  override name = 'RowFailed';
}
