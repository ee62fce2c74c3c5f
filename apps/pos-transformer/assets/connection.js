/** The URL of a page contains the site in its path, the till in its query, and the API key in its fragment (`#key=…`). */
export const siteId = location.pathname.split('/')[2];
export const till = new URLSearchParams(location.search).get('till') ?? '';

// Removes the key from the address bar, where customers could read it. After a reload, the page reads the key from sessionStorage.
const keyInAddress = new URLSearchParams(location.hash.slice(1)).get('key');
if (keyInAddress !== null) {
  sessionStorage.setItem('key', keyInAddress);
  history.replaceState(null, '', `${location.pathname}${location.search}`);
}
const key = keyInAddress ?? sessionStorage.getItem('key');

export const headers = {
  ...(key === null ? {} : { 'x-api-key': key }),
  ...(till === '' ? {} : { 'x-till': till }),
};

export const query = till === '' ? '' : `?till=${encodeURIComponent(till)}`;

/** Formats cents: `R 1 234.50`, with no-break spaces. */
export function formatRands(cents) {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  const whole = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, '\u00a0');
  return `${cents < 0 ? '\u2212' : ''}R\u00a0${whole}.${digits.slice(-2)}`;
}

/** Calls `show` with the till's basket after each change. Reconnects if the connection ends or sends nothing for 30 s. */
export async function followBasket(show, onError) {
  for (;;) {
    const connection = new AbortController();
    let timer;
    const resetTimeout = () => {
      clearTimeout(timer);
      timer = setTimeout(() => connection.abort(), 30_000);
    };
    try {
      resetTimeout();
      const response = await fetch(`/display/${siteId}/events${query}`, { headers, signal: connection.signal });
      if (!response.ok)
        throw new Error(response.status === 401 ? 'The key is missing or wrong.' : `Error ${response.status}`);
      let unfinished = '';
      for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
        resetTimeout();
        const messages = (unfinished + chunk).split('\n\n');
        unfinished = messages.pop();
        for (const message of messages) if (message.startsWith('data: ')) show(JSON.parse(message.slice(6)));
      }
    } catch (error) {
      onError(error);
    }
    clearTimeout(timer);
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}
