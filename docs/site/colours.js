// Before anything is shown: the colours that were chosen here the last time. Without a choice the system's own count.
(() => {
  const { documentElement: root } = document;
  try {
    const chosen = localStorage.getItem('colours');
    if (chosen === 'light' || chosen === 'dark') root.dataset.colours = chosen;
  } catch {
    // No storage: the choice holds for the page.
  }
})();
