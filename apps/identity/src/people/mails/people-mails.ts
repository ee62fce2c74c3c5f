/** The mails to people. They contain no pictures and no styles, so that each program for mails shows them as they are. */
import type { PeopleLanguage, Role } from '@svc/contracts';
import { type Mail, toMailLine } from '@svc/mail';
import { PRODUCT_NAME } from '../person/person.js';

interface MailTexts {
  readonly roles: Readonly<Record<Role, string>>;
  /** The arguments are the names of the merchant, of its site, and of the person who invites. */
  readonly invitation: {
    readonly subject: (merchant: string) => string;
    readonly text: (inviter: string, role: string, place: string) => string;
    readonly site: (site: string, merchant: string) => string;
    readonly link: string;
    readonly unexpected: string;
  };
  readonly factorsReset: {
    readonly subject: string;
    readonly text: (merchant: string) => string;
    readonly next: string;
    readonly unexpected: string;
  };
}

const TEXTS: Readonly<Record<PeopleLanguage, MailTexts>> = {
  en: {
    roles: { owner: 'owner', finance: 'finance', support: 'support', developer: 'developer' },
    invitation: {
      subject: (merchant) => `Invitation to ${merchant}`,
      text: (inviter, role, place) => `${inviter} invites you to the payments of ${place}, as ${role}.`,
      site: (site, merchant) => `the site ${site} of ${merchant}`,
      link: 'Open this link within 24 hours. It works once:',
      unexpected: 'If you do not expect this invitation, ignore this mail: without the link nothing happens.',
    },
    factorsReset: {
      subject: 'Your second factors were removed',
      text: (merchant) =>
        `At the request of ${merchant}, your authenticator app and your passkeys no longer open the console, and you are signed out everywhere.`,
      next: 'Sign in with your password, and set up a new second factor:',
      unexpected: 'If you did not ask for this, tell an owner of the merchant at once.',
    },
  },
  af: {
    roles: { owner: 'eienaar', finance: 'finansies', support: 'ondersteuning', developer: 'ontwikkelaar' },
    invitation: {
      subject: (merchant) => `Uitnodiging na ${merchant}`,
      text: (inviter, role, place) => `${inviter} nooi jou na die betalings van ${place}, as ${role}.`,
      site: (site, merchant) => `die winkel ${site} van ${merchant}`,
      link: 'Maak hierdie skakel binne 24 uur oop. Dit werk een keer:',
      unexpected: 'As jy nie hierdie uitnodiging verwag nie, ignoreer hierdie e-pos: sonder die skakel gebeur niks.',
    },
    factorsReset: {
      subject: 'Jou tweede faktore is verwyder',
      text: (merchant) =>
        `Op versoek van ${merchant} maak jou verifikasie-app en jou toegangsleutels die konsole nie meer oop nie, en jy is oral afgemeld.`,
      next: 'Meld met jou wagwoord aan, en stel ’n nuwe tweede faktor op:',
      unexpected: 'As jy nie hiervoor gevra het nie, sê dit dadelik vir ’n eienaar van die handelaar.',
    },
  },
};

interface InvitationMail {
  readonly to: string;
  readonly language: PeopleLanguage;
  readonly merchantName: string;
  /** Absent for the whole merchant. */
  readonly siteName: string | undefined;
  readonly inviterName: string;
  readonly role: Role;
  readonly url: string;
}

export function buildInvitationMail(invitation: InvitationMail): Mail {
  const { to, language, merchantName, siteName, inviterName, role, url } = invitation;
  const { roles, invitation: texts } = TEXTS[language];
  const place = siteName === undefined ? merchantName : texts.site(siteName, merchantName);
  const lines = [texts.text(inviterName, roles[role], place), texts.link, url, texts.unexpected];
  return buildMail({ to, language, subject: texts.subject(merchantName), lines });
}

interface FactorsResetMail {
  readonly to: string;
  readonly language: PeopleLanguage;
  readonly merchantName: string;
  readonly url: string;
}

export function buildFactorsResetMail({ to, language, merchantName, url }: FactorsResetMail): Mail {
  const { factorsReset } = TEXTS[language];
  const lines = [factorsReset.text(merchantName), factorsReset.next, url, factorsReset.unexpected];
  return buildMail({ to, language, subject: factorsReset.subject, lines });
}

interface Content {
  readonly to: string;
  readonly language: PeopleLanguage;
  readonly subject: string;
  readonly lines: readonly string[];
}

function buildMail({ to, language, subject, lines }: Content): Mail {
  const paragraphs = lines.map((line) =>
    /^https?:\S+$/.test(line) ? `<a href="${escapeHtml(line)}">${escapeHtml(line)}</a>` : escapeHtml(line),
  );
  const body = paragraphs.map((paragraph) => `<p>${paragraph}</p>`).join('');
  return {
    to,
    language,
    subject: toMailLine(subject),
    senderName: PRODUCT_NAME,
    text: lines.join('\n\n'),
    html: `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head><body>${body}</body></html>`,
  };
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
