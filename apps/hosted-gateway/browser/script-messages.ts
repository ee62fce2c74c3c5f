import type { Messages } from '../src/languages/en.js';

/** The messages that the script shows. build.ts inserts them into the script of each language. */
export function scriptMessages({
  format,
  language,
  form,
  choiceErrors,
  fieldErrors,
  formErrors,
  challenge,
  processing,
  paid,
}: Messages) {
  const { noScript: _, ...processingMessages } = processing;
  return {
    format,
    confirmLanguageChange: language.confirmLanguageChange,
    cvvHints: { either: form.cvvHintEither, 3: form.cvvHint, 4: form.cvvHintFour },
    expiring: form.expiring,
    choiceErrors,
    fieldErrors,
    formErrors,
    challenge: { progress: challenge.progress, done: challenge.done },
    processing: processingMessages,
    returning: paid.returning,
  };
}

export type ScriptMessages = ReturnType<typeof scriptMessages>;
