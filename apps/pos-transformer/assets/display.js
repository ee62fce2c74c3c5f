import { followBasket, formatRands } from './connection.js';

const [lines, total, headline, code, hint] = ['lines', 'total', 'headline', 'code', 'hint'].map((id) =>
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
  hint.textContent = error.message.startsWith('The key') ? error.message : 'The connection to the till is interrupted.';
  code.hidden = true;
});
