/** A page of a collection. */
export interface Page {
  readonly items: readonly unknown[];
  readonly next_cursor: string | null;
}

/** A collection: `for await (const item of list)` reads it to the end, page by page. */
export class List<P extends Page> implements AsyncIterable<P['items'][number]> {
  /**
   * If the list `isEndless`, the cursor is never null, and a page without items is the end. In any
   * other list, a page without items only has no matches.
   */
  constructor(
    private readonly read: (cursor: string | undefined) => Promise<P>,
    private readonly isEndless: boolean,
  ) {}

  /** Returns the page at a cursor, such as a page's `next_cursor`. Without one, the first page. */
  page(cursor?: string): Promise<P> {
    return this.read(cursor);
  }

  /** Every page that has items. */
  async *pages(): AsyncGenerator<P, void, undefined> {
    for (let cursor: string | undefined; ;) {
      const page = await this.read(cursor);
      if (page.items.length > 0) yield page;
      if (page.next_cursor === null || (this.isEndless && page.items.length === 0)) return;
      cursor = page.next_cursor;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<P['items'][number], void, undefined> {
    for await (const { items } of this.pages()) yield* items as readonly P['items'][number][];
  }
}
