/** A page of the docs that a feature writes about itself: plain data, which needs no HTML. Texts may mark `code`. */
export interface Guide {
  /** Under the docs' own path: `/batches`. */
  readonly path: string;
  readonly title: string;
  readonly sections: readonly GuideSection[];
}

export interface GuideSection {
  readonly title: string;
  readonly paragraphs: readonly string[];
  readonly commands?: string;
  readonly table?: { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] };
}
