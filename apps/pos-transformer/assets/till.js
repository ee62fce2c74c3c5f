import { followBasket, headers, query, formatRands, siteId } from './connection.js';

const element = (id) => document.getElementById(id);
/** Id of the next line. Starts with a random number, so that two browser tabs of the same till use different ids. */
let nextId = crypto.getRandomValues(new Uint32Array(1))[0] * 1_000_000;
let sumCents = 0;

async function call(path, body) {
  try {
    const response = await fetch(`/v1/sites/${siteId}/invoice/${path}`, {
      method: 'POST',
      headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const result = await response.json().catch(() => ({}));
    const { Result = 'STOP', Message = result.detail ?? `Error ${response.status}` } = result;
    element('answer').dataset.result = Result;
    element('answer').textContent = `${Result} ${Message}`;
  } catch {
    element('answer').dataset.result = 'STOP';
    element('answer').textContent = 'The transformer does not answer.';
  }
}

/** Converts text to cents without floating-point arithmetic. */
function parseCents(text) {
  const [whole, fraction = ''] = text.split('.');
  return Number(whole + fraction.padEnd(2, '0'));
}

element('line').addEventListener('submit', async (event) => {
  event.preventDefault();
  const form = new FormData(event.target);
  const itemPrice = parseCents(form.get('price'));
  const itemQuantity = Number(form.get('quantity'));
  const totalPrice = Math.sign(itemQuantity) * Math.round(itemPrice * Math.abs(itemQuantity));
  const itemName = form.get('itemName');
  await call('line', { id: nextId++, itemName, itemProductCode: '', itemPrice, itemQuantity, totalPrice });
});

element('total').addEventListener('submit', async (event) => {
  event.preventDefault();
  await call('total', { amount: sumCents, reference: new FormData(event.target).get('reference') });
});

element('reset').addEventListener('click', () => call('reset'));

function createCell(text) {
  const element = document.createElement('td');
  element.textContent = text;
  return element;
}

void followBasket(
  (basket) => {
    sumCents = basket.lines.reduce((sum, { totalCents }) => sum + totalCents, 0);
    element('lines').replaceChildren(
      ...basket.lines.map(({ name, quantity, totalCents }) => {
        const row = document.createElement('tr');
        row.append(createCell(`${quantity} ×`), createCell(name), createCell(formatRands(totalCents)));
        return row;
      }),
    );
    element('amount').textContent = formatRands(basket.amountCents ?? sumCents);
    element('state').textContent = basket.reference === null ? basket.state : `${basket.reference}: ${basket.state}`;
    document.body.dataset.state = basket.state;
    element('code').hidden = basket.codePath === null;
    if (basket.codePath !== null) element('code').src = basket.codePath;
  },
  (error) => showStatus({ service: error.message }),
);

/** Shows these texts, and the panel only if it has a text or an alert. */
function showStatus(texts) {
  for (const [id, text] of Object.entries(texts)) element(id).textContent = text;
  element('status').hidden = element('status').textContent.trim() === '';
}

async function showAlerts() {
  try {
    const response = await fetch(`/till/${siteId}/state${query}`, { headers });
    const { isAway, waitingCalls, clockProblem, alerts } = await response.json();
    const waiting = waitingCalls === 0 ? '' : ` ${waitingCalls} calls wait to be sent.`;
    element('alerts').replaceChildren(
      ...alerts.map(({ at, message }) => {
        const item = document.createElement('li');
        item.textContent = `${new Date(at).toLocaleTimeString()} ${message}`;
        return item;
      }),
    );
    const service = `${isAway ? 'The payment service cannot be reached.' : ''}${waiting}`;
    showStatus({ service, clock: clockProblem ?? '' });
  } catch {
    showStatus({ service: 'The transformer does not answer.' });
  }
  setTimeout(showAlerts, 2000);
}
void showAlerts();
