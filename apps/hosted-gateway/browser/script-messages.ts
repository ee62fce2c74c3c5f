import type { Messages } from '../src/languages/en.js';

/** Of all messages of a language those that the script shows itself: build.ts puts them into the script of that language. */
export function scriptMessages({
  format,
  language,
  form,
  choiceErrors,
  fieldErrors,
  formErrors,
  processing,
  paid,
}: Messages) {
  const { noScript: _, ...processingMessages } = processing;
  return {
    format,
    emptiesForm: language.emptiesForm,
    cvvHints: { either: form.cvvHintEither, 3: form.cvvHint, 4: form.cvvHintFour },
    expiring: form.expiring,
    choiceErrors,
    fieldErrors,
    formErrors,
    processing: processingMessages,
    returning: paid.returning,
  };
}

export type ScriptMessages = ReturnType<typeof scriptMessages>;
