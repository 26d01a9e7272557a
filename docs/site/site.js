// What the pages do beside being read: another colour scheme, copying of commands, search. Without it they are whole.
(() => {
  const { documentElement: root, body } = document;
  const header = document.querySelector('header');
  const engine = new URL('minisearch.js', document.currentScript.src).href;

  /** An element with these properties, holding these children. */
  function make(name, properties, ...children) {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  }

  // Colours

  const isDark = () =>
    root.dataset.colours
      ? root.dataset.colours === 'dark'
      : matchMedia('(prefers-color-scheme: dark)').matches;

  function addSwitch() {
    const button = make('button', { type: 'button', className: 'colours' });
    const label = () => {
      button.textContent = isDark() ? 'Light' : 'Dark';
      button.setAttribute('aria-label', isDark() ? 'Light colours' : 'Dark colours');
    };
    button.addEventListener('click', () => {
      root.dataset.colours = isDark() ? 'light' : 'dark';
      label();
      try {
        localStorage.setItem('colours', root.dataset.colours);
      } catch {
        // No storage: the choice holds for the page.
      }
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', label);
    label();
    header.append(button);
  }

  // Commands

  function addCopying() {
    if (!navigator.clipboard) return;
    for (const bar of document.querySelectorAll('.code > p')) {
      const button = make('button', { type: 'button', className: 'copy', textContent: 'Copy' });
      button.addEventListener('click', async () => {
        await navigator.clipboard.writeText(bar.nextElementSibling.textContent);
        button.textContent = 'Copied';
        setTimeout(() => (button.textContent = 'Copy'), 1500);
      });
      bar.append(button);
    }
  }

  // Tabs

  const stored = (value) => {
    try {
      if (value !== undefined) localStorage.setItem('language', value);
      return localStorage.getItem('language');
    } catch {
      return null; // No storage: the choice holds for the page.
    }
  };

  /** Shows the language chosen in one place in all others too. */
  function linkTabs() {
    const choose = (language) => {
      for (const label of document.querySelectorAll('.tabs > label'))
        if (label.textContent.startsWith(language)) label.control.checked = true;
    };
    const named = document.getElementById(location.hash.slice(1));
    if (stored() !== null) choose(stored());
    if (named?.matches('.tabs > input')) named.checked = true;
    document.addEventListener('change', ({ target }) => {
      if (!target.matches('.tabs > input')) return;
      const [language] = target.labels[0].textContent.split(',');
      const before = target.getBoundingClientRect().top;
      choose(stored(language) ?? language);
      // Samples above have another height now.
      scrollBy(0, target.getBoundingClientRect().top - before);
    });
  }

  // Search

  const MAX_RESULTS = 12;
  const EXCERPT = 110;
  /** The words that make a question of a subject. Most sections have them, so they say nothing about which is meant. */
  const QUESTION_WORDS =
    /^(?:an?|are|can|do|does|for|get|how|i|in|is|it|may|my|of|on|should|the|there|to|we|what|when|where|which|who|why|you|your)$/;
  /** Returns the singular of the usual plurals, so that "currencies" finds "currency". */
  const singular = (word) =>
    word.length < 4
      ? word
      : word
          .replace(/ies$/, 'y')
          .replace(/(ss|x|ch|sh|tus)es$/, '$1')
          .replace(/(?<![isu])s$/, '');
  let opening;

  /** The index, fetched once, when somebody begins. */
  function open() {
    opening ??= load();
    return opening;
  }

  async function load() {
    const [{ default: MiniSearch }, answer] = await Promise.all([
      import(engine),
      fetch(body.dataset.search),
    ]);
    const index = new MiniSearch({
      fields: ['title', 'page', 'also', 'text'],
      storeFields: ['title', 'page', 'text', 'href'],
      processTerm: (word) => (QUESTION_WORDS.test(word) ? null : singular(word)),
      tokenize: (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [],
      searchOptions: {
        boost: { title: 4, also: 8, page: 2 },
        prefix: true,
        // In a short word, another letter is another word: "USD" is not "used".
        fuzzy: (term) => (term.length < 6 ? false : 0.15),
        combineWith: 'AND',
        // A guide explains; the reference has many more entries with the same words, and the changelog all words.
        boostDocument: (_id, _term, { href }) =>
          /\/(?:reference[/#]|changelog)/.test(href) ? 0.4 : 1,
      },
    });
    index.addAll(await answer.json());
    return index;
  }

  function excerpt({ text, terms }) {
    const at = Math.max(0, ...terms.map((term) => text.toLowerCase().indexOf(term)));
    const from = Math.max(0, at - EXCERPT / 3);
    return `${from > 0 ? '…' : ''}${text.slice(from, from + EXCERPT)}${from + EXCERPT < text.length ? '…' : ''}`;
  }

  function resultOf(found) {
    const title = found.title === '' ? found.page : `${found.page} › ${found.title}`;
    return make(
      'li',
      {},
      make(
        'a',
        { href: found.href },
        make('b', { textContent: title }),
        make('span', { textContent: excerpt(found) }),
      ),
    );
  }

  function addSearch() {
    const input = make('input', { type: 'search', placeholder: 'Search', autocomplete: 'off' });
    input.setAttribute('aria-label', 'Search');
    const list = make('ul', {});
    const said = make('p', {});
    said.setAttribute('role', 'status');
    const results = make('div', { className: 'results', hidden: true }, said, list);
    const form = make('form', { className: 'search' }, input, results);
    form.setAttribute('role', 'search');
    const show = async () => {
      const text = input.value.trim();
      if (text === '') return close();
      const index = await open();
      const all = index.search(text);
      const some = all.length > 0 ? all : index.search(text, { combineWith: 'OR' });
      const found = some.slice(0, MAX_RESULTS);
      // What was typed meanwhile has its own answer.
      if (input.value.trim() !== text) return;
      list.replaceChildren(...found.map(resultOf));
      if (found.length === 0) said.textContent = `Nothing has “${text}”.`;
      else if (found.length === some.length) said.textContent = `${some.length} found`;
      else said.textContent = `First ${found.length} of ${some.length}`;
      results.hidden = false;
    };
    const close = () => (results.hidden = true);
    const links = () => [...list.querySelectorAll('a')];
    input.addEventListener('focus', () => void open());
    input.addEventListener('input', () => void show());
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      links()[0]?.click();
    });
    form.addEventListener('click', (event) => event.target.closest('a') && close());
    form.addEventListener('focusout', (event) => form.contains(event.relatedTarget) || close());
    form.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') {
        input.value = '';
        close();
      }
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step === undefined || results.hidden) return;
      event.preventDefault();
      const all = [input, ...links()];
      all[(all.indexOf(document.activeElement) + step + all.length) % all.length].focus();
    });
    document.addEventListener('keydown', (event) => {
      if (event.key !== '/' || /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName))
        return;
      event.preventDefault();
      input.focus();
    });
    header.append(form);
  }

  addSearch();
  addSwitch();
  addCopying();
  linkTabs();
  // A link of the menu that leads within the page closes it.
  const menu = document.getElementById('menu');
  const current = menu.querySelector('[aria-current]');
  /** Scrolls the menu to the current page, if it would be below what is shown. */
  const showCurrent = () => {
    if (current?.offsetTop > menu.clientHeight * 0.75)
      menu.scrollTop = current.offsetTop - menu.clientHeight / 4;
  };
  showCurrent();
  menu.addEventListener('toggle', showCurrent);
  menu.addEventListener(
    'click',
    (event) => event.target.closest('a') && menu.matches(':popover-open') && menu.hidePopover(),
  );
})();
