import type { FastifyInstance } from 'fastify';
import type { EmulatorContext } from '../emulator-context.js';
import { answerChallenge, CHALLENGE_PATH, urlOfReturn } from '../payments/challenge.js';
import { CHALLENGE_PAGE_HEADERS, challengePage } from '../payments/challenge-page.js';

/** Serves the 3D Secure page, which the payer's browser opens. */
export function serveChallengePage(app: FastifyInstance, { store }: EmulatorContext): void {
  app.get<{ Params: { token: string } }>(`${CHALLENGE_PATH}/:token`, async (request, reply) => {
    const challenge = store.challenges.get(request.params.token);
    return reply
      .status(challenge ? 200 : 404)
      .headers(CHALLENGE_PAGE_HEADERS)
      .send(challengePage(challenge, false));
  });
  app.post<{ Params: { token: string }; Body: { answer?: string } | null }>(
    `${CHALLENGE_PATH}/:token`,
    async (request, reply) => {
      const challenge = store.challenges.get(request.params.token);
      const answer = request.body?.answer ?? '';
      if (!challenge) return reply.status(404).headers(CHALLENGE_PAGE_HEADERS).send(challengePage(undefined, false));
      if (answer === 'leave') return reply.headers(CHALLENGE_PAGE_HEADERS).send(challengePage(challenge, true));
      if (answer !== 'pass' && answer !== 'fail')
        return reply.status(400).headers(CHALLENGE_PAGE_HEADERS).send(challengePage(challenge, false));
      const answered = answerChallenge(challenge, answer === 'pass');
      if (answered !== challenge) store.commit([answered]);
      return reply.redirect(urlOfReturn(answered), 303);
    },
  );
}
