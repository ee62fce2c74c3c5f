import { type InvitationView, MAX_PASSWORD_LENGTH, MAX_PERSON_NAME_LENGTH, MIN_PASSWORD_LENGTH } from '@svc/contracts';
import type { Texts } from '../languages/en/en.js';
import { fill } from '../languages/fill.js';
import { Notice, renderDocument } from '../layout/layout.js';

interface InvitationPage {
  readonly texts: Texts;
  readonly token: string;
  readonly invitation: InvitationView;
  readonly name?: string;
  readonly problem?: string;
}

export function renderInvitationPage({ texts, token, invitation, name = '', problem }: InvitationPage): string {
  const { personExists } = invitation;
  const { title, text } = describe(invitation, texts);
  return renderDocument({
    title,
    texts,
    children: (
      <section class="card form">
        <h1>{title}</h1>
        <p>{text}</p>
        {problem === undefined ? null : <Notice kind="problem">{problem}</Notice>}
        <form method="post" action={`/invitations/${encodeURIComponent(token)}`}>
          {personExists ? null : (
            <>
              <label>
                {texts.invitation.name}
                <input name="name" autocomplete="name" required maxlength={MAX_PERSON_NAME_LENGTH} value={name} />
              </label>
              <label>
                {fill(texts.invitation.password, { min: MIN_PASSWORD_LENGTH })}
                <input
                  name="password"
                  type="password"
                  autocomplete="new-password"
                  required
                  minlength={MIN_PASSWORD_LENGTH}
                  maxlength={MAX_PASSWORD_LENGTH}
                />
              </label>
            </>
          )}
          <button>{texts.invitation.submit}</button>
        </form>
      </section>
    ),
  });
}

function describe(view: InvitationView, texts: Texts): { title: string; text: string } {
  const { invitation, roles, operator } = texts;
  const { email } = view;
  if ('operatorRole' in view) {
    const text = fill(invitation.operatorText, { email, role: operator.roles[view.operatorRole] });
    return { title: invitation.operatorTitle, text };
  }
  const { merchantName: merchant, siteName: site, role } = view;
  const names = { merchant, email, role: roles[role] };
  return {
    title: fill(invitation.title, { merchant }),
    text: site === undefined ? fill(invitation.text, names) : fill(invitation.textSite, { ...names, site }),
  };
}

export function renderInvalidInvitationPage(texts: Texts): string {
  return renderDocument({
    title: texts.errors.notFoundTitle,
    texts,
    children: (
      <section class="card">
        <h1>{texts.errors.notFoundTitle}</h1>
        <Notice kind="problem">{texts.invitation.invalid}</Notice>
      </section>
    ),
  });
}
