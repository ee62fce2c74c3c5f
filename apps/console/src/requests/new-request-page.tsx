import {
  MAX_EMAIL_LENGTH,
  MAX_IDENTIFIER_LENGTH,
  MAX_REQUEST_DAYS,
  MAX_REQUEST_DESCRIPTION_LENGTH,
} from '@svc/contracts';
import { addDays } from '@svc/kernel';
import { fill } from '../languages/fill.js';
import { LANGUAGES } from '../languages/languages.js';
import { PostForm } from '../layout/form-elements.js';
import { Notice, pathOf, renderDocument } from '../layout/layout.js';
import type { MerchantViewer } from '../viewer/viewer.js';
import { EXPIRY_CHOICES } from './request.js';
import { type FormProblem, type FormValues, listSites } from './request-form.js';

export interface NewRequestPage {
  readonly viewer: MerchantViewer;
  readonly values: FormValues;
  readonly problem: FormProblem | 'tooSoon' | 'conflict' | 'repeated' | undefined;
  /** Whether e-mails can be sent. */
  readonly hasMail: boolean;
  /** The merchant's day. */
  readonly today: string;
}

/** The form of a new payment request. It works without a script. */
export function renderNewRequestPage(page: NewRequestPage): string {
  const { viewer, problem, today } = page;
  const { texts } = viewer;
  const { newRequest } = texts;
  return renderDocument({
    title: newRequest.title,
    texts,
    viewer,
    current: 'requests',
    children: (
      <>
        <p>
          <a href={`${pathOf(viewer)}/requests`}>{texts.request.back}</a>
        </p>
        <h1>{newRequest.title}</h1>
        {problem === undefined ? null : (
          <Notice kind="problem">
            {fill(newRequest.problems[problem], { day: addDays(today, MAX_REQUEST_DAYS) })}
          </Notice>
        )}
        <section class="card form">
          <p>{newRequest.intro}</p>
          <Form {...page} />
        </section>
      </>
    ),
  });
}

function Form({ viewer, values, problem, hasMail, today }: NewRequestPage) {
  const { newRequest } = viewer.texts;
  const sites = listSites(viewer);
  const mark = (field: FormProblem) => (problem === field ? { 'aria-invalid': true } : {});
  return (
    <PostForm viewer={viewer} action={`${pathOf(viewer)}/requests`}>
      <input type="hidden" name="key" value={values.key} />
      {sites.length === 1 ? (
        <input type="hidden" name="site" value={values.site} />
      ) : (
        <label>
          {newRequest.site}
          <select name="site" {...mark('site')}>
            {sites.map(({ siteId, name }) => (
              <option value={siteId} selected={String(siteId) === values.site}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        {newRequest.amount}
        <input name="amount" inputmode="decimal" required maxlength={20} value={values.amount} {...mark('amount')} />
      </label>
      <label>
        {newRequest.description}
        <input
          name="description"
          required
          maxlength={MAX_REQUEST_DESCRIPTION_LENGTH}
          value={values.description}
          {...mark('description')}
        />
      </label>
      <label>
        {newRequest.order}
        <input name="order" maxlength={MAX_IDENTIFIER_LENGTH} value={values.order} {...mark('order')} />
      </label>
      <label>
        {newRequest.expiry}
        <select name="expiry" {...mark('expiry')}>
          {EXPIRY_CHOICES.map((choice) => (
            <option value={choice} selected={choice === values.expiry}>
              {fill(newRequest.days[choice], { day: choice === 'date' ? '' : addDays(today, Number(choice)) })}
            </option>
          ))}
        </select>
      </label>
      <label>
        {newRequest.until}
        <input type="date" name="until" min={today} max={addDays(today, MAX_REQUEST_DAYS)} value={values.until} />
      </label>
      {hasMail ? <MailFields {...{ viewer, values }} isInvalid={problem === 'email'} isRequired={false} /> : null}
      <button>{newRequest.submit}</button>
    </PostForm>
  );
}

interface MailFieldsProps {
  readonly viewer: MerchantViewer;
  readonly values: Pick<FormValues, 'email' | 'language'>;
  readonly isInvalid: boolean;
  readonly isRequired: boolean;
}

/** The recipient of an e-mail and its language. */
export function MailFields({ viewer, values, isInvalid, isRequired }: MailFieldsProps) {
  const { newRequest } = viewer.texts;
  return (
    <>
      <label>
        {isRequired ? newRequest.requiredEmail : newRequest.email}
        <input
          type="email"
          name="email"
          autocomplete="off"
          maxlength={MAX_EMAIL_LENGTH}
          required={isRequired}
          value={values.email}
          {...(isInvalid ? { 'aria-invalid': true } : {})}
        />
      </label>
      <label>
        {newRequest.language}
        <select name="language">
          {LANGUAGES.map(({ tag, name }) => (
            <option value={tag} selected={tag === values.language} lang={tag}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}
