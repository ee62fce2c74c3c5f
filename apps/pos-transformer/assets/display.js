import { followBasket, formatRands } from './connection.js';

const [store, lines, total, headline, code, hint] = ['store', 'lines', 'total', 'headline', 'code', 'hint'].map((id) =>
  document.getElementById(id),
);

/** Headline and hint for each state of the basket. */
const TEXTS = {
  empty: ['Welcome', ''],
  filling: ['Your basket', ''],
  waiting: ['One moment', 'Your code is being made.'],
  payable: ['Scan to pay', 'Point your phone’s camera at the code.'],
  paid: ['Paid', 'Thank you.'],
  closed: ['Your basket', 'Please pay at the till.'],
};

function createCell(text) {
  const element = document.createElement('td');
  element.textContent = text;
  return element;
}

function show(basket) {
  document.body.dataset.state = basket.state;
  document.title = 'Your basket';
  store.textContent = basket.storeName ?? '';
  lines.replaceChildren(
    ...basket.lines.map(({ name, quantity, totalCents }) => {
      const row = document.createElement('tr');
      row.append(createCell(`${quantity} ×`), createCell(name), createCell(formatRands(totalCents)));
      return row;
    }),
  );
  total.textContent = basket.amountCents === null ? '' : formatRands(basket.amountCents);
  [headline.textContent, hint.textContent] = TEXTS[basket.state];
  code.hidden = basket.codePath === null;
  if (basket.codePath !== null) code.src = basket.codePath;
  else code.removeAttribute('src');
}

void followBasket(show, (error) => {
  document.body.dataset.state = 'lost';
  headline.textContent = 'One moment';
  hint.textContent = 'Please pay at the till.';
  // The customer cannot mend the cause, such as a wrong key. The title and the console tell it to the store's staff.
  document.title = error.message;
  console.error(error);
  code.hidden = true;
});
