/** What a page of its own says instead of what was asked for. Its texts are ours, whole sentences. */
export class DeskError extends Error {
  override name = 'DeskError';

  constructor(
    readonly status: number,
    readonly title: string,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

export function noSuchPage(): DeskError {
  return new DeskError(
    404,
    'Not found',
    'There is nothing here. Search for the id, the alias or the key that you have.',
  );
}
