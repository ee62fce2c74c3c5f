/**
 * Icons as inline SVG, so that the page loads no other file. They are decorative, and therefore hidden from screen
 * readers, except the marks of the card schemes.
 */
import type { CardBrandName } from '@svc/sdk/card';
import type { JSX } from 'preact';

export function LockIcon() {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <rect x="5" y="10.5" width="14" height="9.5" rx="2.5" fill="currentColor" />
      <path d="M8 10.5V7.5a4 4 0 0 1 8 0v3" fill="none" stroke="currentColor" stroke-width="2" />
    </svg>
  );
}

export function GlobeIcon() {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path
        d="M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18M3 12h18M12 3c-5 5-5 13 0 18M12 3c5 5 5 13 0 18"
        fill="none"
        stroke="currentColor"
        stroke-width="1.75"
      />
    </svg>
  );
}

const STATE_PATHS = {
  good: 'M15 24.5l6.5 6.5L33.5 18',
  closed: 'M24 14.5v12M24 32.5v.5',
  waiting: 'M24 14v10.5l7 4.5',
  confirm: 'M24 12.5l10 4v7.5c0 5.5-4 9.5-10 12-6-2.5-10-6.5-10-12v-7.5z',
};

export function StateIcon({ kind }: { kind: keyof typeof STATE_PATHS }) {
  return (
    <svg
      class={kind === 'good' ? 'state-icon good' : 'state-icon'}
      viewBox="0 0 48 48"
      aria-hidden="true"
      focusable="false"
    >
      <circle cx="24" cy="24" r="22" fill="currentColor" opacity="0.14" />
      <path
        d={STATE_PATHS[kind]}
        fill="none"
        stroke="currentColor"
        stroke-width="3.5"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}

/**
 * The card schemes that the page accepts, with the text alternatives of their marks. These are the schemes that the page
 * recognises by their numbers. They are the same for all merchants and acquirers, because an acquirer reports no
 * capabilities: an acquirer that refuses a scheme declines its cards.
 */
export const CARD_MARKS: Readonly<Record<Exclude<CardBrandName, 'unknown'>, { label: string; picture: JSX.Element }>> =
  {
    visa: {
      label: 'Visa',
      picture: drawLetters(
        'M5 7l2 6 3-6M12.5 7l-1 6M18.5 7.6c-1.5-.8-3.6-.6-3.6.7 0 1.5 3 1.2 3 2.9 0 1.6-2.6 1.9-4.2.9M19.5 13l3.5-6 1.5 6M20.8 11.2h3.4',
        '#1a1f71',
      ),
    },
    mastercard: { label: 'Mastercard', picture: drawCircles('#eb001b', '#ff5f00', '#f79e1b') },
    amex: {
      label: 'Amex',
      picture: (
        <>
          <path d="M0 0h32v20H0z" fill="#016fd0" />
          {drawLetters(
            'M3 13.5l3-7 3 7M4.2 11h3.6M10.5 13.5v-7l2.5 4 2.5-4v7M21.5 6.5h-4v7h4M17.5 10h3.5M23.5 6.5l5.5 7M29 6.5l-5.5 7',
            '#fff',
          )}
        </>
      ),
    },
    diners: {
      label: 'Diners',
      picture: (
        <path
          d="M16 3.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13zm0 1.5a5 5 0 1 1 0 10a5 5 0 1 1 0-10zM14.8 6.4a3.8 3.8 0 0 0 0 7.2zM17.2 6.4a3.8 3.8 0 0 1 0 7.2z"
          fill="#0079be"
        />
      ),
    },
    discover: {
      label: 'Discover',
      picture: (
        <>
          {drawLetters(
            'M4 7v6h1.5a3 3 0 0 0 0-6zM11 7v6M16.3 7.6c-1.2-.7-3-.5-3 .8 0 1.5 3.2 1 3.2 2.8 0 1.5-2.3 1.8-3.5 1M22.2 7.8a3 3 0 1 0 0 4.4',
            '#231f20',
          )}
          <circle cx="27" cy="10" r="2.8" fill="#f47216" />
        </>
      ),
    },
    jcb: {
      label: 'JCB',
      picture: (
        <>
          <rect x="6" y="4" width="6" height="12" rx="2" fill="#0e4c96" />
          <rect x="13" y="4" width="6" height="12" rx="2" fill="#d0242b" />
          <rect x="20" y="4" width="6" height="12" rx="2" fill="#00873a" />
          {drawLetters(
            'M10 7v4.5a1.5 1.5 0 0 1-2.5.5M17.8 8a2.2 2.2 0 1 0 0 4M22 7v6h1.3a1.5 1.5 0 0 0 0-3H22h1a1.5 1.5 0 0 0 0-3z',
            '#fff',
          )}
        </>
      ),
    },
    unionpay: {
      label: 'UnionPay',
      picture: (
        <>
          <path d="M8.5 4h6L12 16H6z" fill="#e21836" />
          <path d="m14.5 4h6L18 16h-6z" fill="#00447c" />
          <path d="m20.5 4h6L24 16h-6z" fill="#007b84" />
        </>
      ),
    },
    maestro: { label: 'Maestro', picture: drawCircles('#eb001b', '#7673c0', '#00a1df') },
  };

/** Two circles that overlap. */
function drawCircles(left: string, overlap: string, right: string) {
  return (
    <>
      <circle cx="13" cy="10" r="5.5" fill={left} />
      <circle cx="19" cy="10" r="5.5" fill={right} />
      <path d="M16 5.4a5.5 5.5 0 0 1 0 9.2a5.5 5.5 0 0 1 0-9.2" fill={overlap} />
    </>
  );
}

/** Letters as strokes, so that they look the same in every browser. */
function drawLetters(strokes: string, colour: string) {
  return <path d={strokes} fill="none" stroke={colour} stroke-width="1.4" />;
}

/** The marks of the accepted card schemes. The script dims the marks of the other schemes when the payer types a card. */
export function CardMarks({ label }: { label: string }) {
  return (
    // Safari takes the role from a list without bullets, and with it the label.
    <ul class="marks" id="card-marks" role="list" aria-label={label}>
      {Object.entries(CARD_MARKS).map(([name, { label: scheme, picture }]) => (
        <li data-brand={name}>
          <svg viewBox="0 0 32 20" role="img" aria-label={scheme}>
            {picture}
          </svg>
        </li>
      ))}
    </ul>
  );
}
