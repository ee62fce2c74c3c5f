// Fills in forms with passkeys. Without this script, and in browsers without passkeys, the forms stay hidden.
const hasPasskeys =
  typeof PublicKeyCredential === 'function' && typeof PublicKeyCredential.parseRequestOptionsFromJSON === 'function';

async function fillIn(form) {
  const body = new URLSearchParams(new FormData(form));
  const reply = await fetch(form.dataset.challenge, { method: 'POST', body });
  // The session has ended, or the person confirms first.
  if (reply.redirected) return location.assign(reply.url);
  const { options, challengeToken } = await reply.json();
  const credential = await (form.dataset.use === 'create'
    ? navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
    : navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) }));
  form.elements.challengeToken.value = challengeToken;
  form.elements.response.value = JSON.stringify(credential.toJSON());
  form.submit();
}

for (const part of document.querySelectorAll('[data-passkeys]')) {
  if (!hasPasskeys || part.dataset.passkeys !== location.origin) continue;
  const [problem, button] = [part.querySelector('[role=alert]'), part.querySelector('button')];
  part.hidden = false;
  for (const text of document.querySelectorAll('[data-no-passkeys]')) text.hidden = true;
  part.querySelector('form').addEventListener('submit', (event) => {
    event.preventDefault();
    problem.hidden = true;
    button.disabled = true;
    // The person has closed the dialog, or the browser has no passkey.
    fillIn(event.target).catch(() => {
      problem.hidden = false;
      button.disabled = false;
    });
  });
}
