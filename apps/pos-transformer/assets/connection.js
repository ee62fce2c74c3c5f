/** The address of a page contains the site in the path, the till in the query, and the key behind `#key=`. */
export const siteId = location.pathname.split('/')[2];
export const till = new URLSearchParams(location.search).get('till') ?? '';

// Removes the key from the address bar, where people in front of the screen could read it. A reload finds it in the tab's storage.
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

export function rands(cents) {
  const size = String(Math.abs(cents)).padStart(3, '0');
  const whole = size.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, '\u00a0');
  return `${cents < 0 ? '\u2212' : ''}R\u00a0${whole}.${size.slice(-2)}`;
}

/** Calls `show` with the till's basket after each change. Reopens a connection that ends, or is silent for 30 s. */
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
      const answer = await fetch(`/display/${siteId}/events${query}`, { headers, signal: connection.signal });
      if (!answer.ok)
        throw new Error(answer.status === 401 ? 'The key is missing or wrong.' : `Error ${answer.status}`);
      let text = '';
      for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
        resetTimeout();
        const messages = (text + chunk).split('\n\n');
        text = messages.pop();
        for (const message of messages) if (message.startsWith('data: ')) show(JSON.parse(message.slice(6)));
      }
    } catch (error) {
      onError(error);
    }
    clearTimeout(timer);
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}
