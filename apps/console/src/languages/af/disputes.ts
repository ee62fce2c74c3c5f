import type { disputes as english } from '../en/disputes.js';

/** Texts of the list of disputes, in Afrikaans. */
export const disputes: typeof english = {
  disputes: {
    title: 'Dispute',
    states: { open: 'Oop', closed: 'Beslis' },
    captions: {
      open: 'Oop dispute, die naaste sperdatum eerste',
      closed: 'Besliste dispute, die nuutste eerste',
    },
    columns: { answerBy: 'Antwoord voor', reported: 'Aangemeld', reason: 'Rede van die bank' },
    noReason: 'Die bank het geen rede gegee nie.',
    noAnswer: 'Geen antwoord is nou nodig nie.',
    overdue: 'Te laat: die tyd om te antwoord is verby',
    left: { today: 'vandag', one: 'nog 1 dag', many: 'nog {days} dae' },
    empty: {
      open: 'Geen oop dispute nie. Wanneer ’n betaler ’n betaling by die bank betwis, verskyn die dispuut hier met sy sperdatum.',
      closed: 'Geen besliste dispute hier nie.',
    },
    first: 'Eerste dispute',
    more: 'Meer dispute',
    help: {
      title: 'Wat jy kan doen',
      answer:
        'Jy antwoord ’n dispuut, of aanvaar dit, in die kliëntgebied van jou kaartverkryger, voor die sperdatum. Maak die betaling oop vir sy bestelling, kliënt en terugbetalings: dit is die bewyse. As jy nie toegang tot die kliëntgebied het nie, stuur die betaalverwysing en die bewyse aan die bedryfsman van hierdie platform.',
      money:
        'Die bank trek ’n betwiste bedrag van jou saldo af wanneer dit ’n terugvordering begin, en gee dit terug as jy wen. Moenie ’n betwiste betaling ook terugbetaal nie: die betaler sou die geld twee keer kry.',
    },
    today: {
      one: '1 dispuut om te antwoord, voor {time}',
      many: '{count} dispute om te antwoord, die eerste voor {time}',
    },
  },
};
