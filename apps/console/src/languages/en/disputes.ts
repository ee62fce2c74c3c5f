/** Texts of the list of disputes, in English. */
export const disputes = {
  disputes: {
    title: 'Disputes',
    states: { open: 'Open', closed: 'Decided' },
    captions: {
      open: 'Open disputes, the nearest deadline first',
      closed: 'Decided disputes, the newest first',
    },
    columns: { answerBy: 'Answer by', reported: 'Reported', reason: 'Reason of the bank' },
    noReason: 'The bank gave no reason.',
    noAnswer: 'No answer is needed now.',
    overdue: 'Overdue: the time to answer has passed',
    left: { today: 'today', one: '1 day left', many: '{days} days left' },
    empty: {
      open: 'No open disputes. When a payer disputes a payment at the bank, the dispute appears here with its deadline.',
      closed: 'No decided disputes here.',
    },
    first: 'First disputes',
    more: 'More disputes',
    help: {
      title: 'What you can do',
      answer:
        'You answer a dispute, or accept it, in the customer area of your card acquirer, before the deadline. Open the payment for its order, customer and refunds: they are the evidence. If you have no access to the customer area, send the payment reference and the evidence to the operator of this platform.',
      money:
        'The bank takes a disputed amount from your balance when it opens a chargeback, and returns it if you win. Do not refund a disputed payment as well: the payer would get the money twice.',
    },
    today: { one: '1 dispute to answer, by {time}', many: '{count} disputes to answer, the first by {time}' },
  },
};
