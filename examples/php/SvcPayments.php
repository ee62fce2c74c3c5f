<?php
/**
 * Svc Payments for PHP 8.1 and newer: sessions of the hosted payment page, and its webhooks. One file, nothing to install
 * but the extension curl: copy it beside your shop.
 *
 * An order is paid when a *verified webhook* has the `paymentStatus` "Success": never because a payer returned to your
 * returnUrl, and never because of `status`, which only describes the call.
 */
declare(strict_types=1);

/** A failed call: an error of the gateway, or no answer. */
final class SvcPaymentsError extends RuntimeException
{
    /**
     * @param int         $httpStatus 0 without an answer
     * @param list<string> $messages  for people; branch on the status
     * @param bool        $retryable  true if the same call may succeed later without a change
     * @param string|null $requestId  quote it to support
     * @param string|null $type       address of the page that explains the error
     */
    public function __construct(
        public readonly int $httpStatus,
        public readonly array $messages,
        public readonly bool $retryable,
        public readonly ?string $requestId = null,
        public readonly ?string $type = null,
    ) {
        $page = $type === null ? '' : " (see $type)";
        parent::__construct(($httpStatus === 0 ? 'No answer' : $httpStatus) . ': ' . implode('; ', $messages) . $page);
    }
}

/** An invalid webhook. Answer it with 400. `reason` is one of bad-headers, too-old, too-new, bad-signature, bad-secret, bad-body. */
final class SvcWebhookError extends RuntimeException
{
    public function __construct(public readonly string $reason, string $message)
    {
        parent::__construct("$reason: $message");
    }
}

final class SvcPayments
{
    private const MAX_TRIES = 4;
    private const MAX_BODY_BYTES = 262144;
    private const TOLERANCE_SECONDS = 300;

    private readonly string $base;
    /** @var list<string> */
    private readonly array $headers;

    /**
     * @param string $gatewayUrl for example https://pay.example.com
     * @param string $apiKey     the site's or the merchant's key, svc_test_site_… or svc_live_site_…
     */
    public function __construct(
        string $gatewayUrl,
        int $merchantId,
        int $siteId,
        #[SensitiveParameter] string $apiKey,
        private readonly int $timeoutSeconds = 10,
    ) {
        if (!preg_match('~^https?://[^/?#@\s]+~', $gatewayUrl)) {
            throw new InvalidArgumentException('gatewayUrl must be an http(s) address, as in https://pay.example.com');
        }
        if (!preg_match('/^svc_(test|live)_(site|merchant)_[\w-]{43}$/D', $apiKey)) {
            throw new InvalidArgumentException('apiKey must be a key of a site or a merchant: check the setting that it comes from');
        }
        $this->base = rtrim($gatewayUrl, '/') . '/api/v3.1';
        $this->headers = [
            'accept: application/json',
            "merchantId: $merchantId",
            "merchantSiteId: $siteId",
            "x-api-key: $apiKey",
        ];
    }

    /**
     * Creates a session; send the payer to its page, the `redirectUrl` of the answer. Safe to repeat: the same requestId returns
     * the same session with its current `sessionState`. "refused", "expired" and "cancelled" accept no payment any more: create
     * another session with another requestId, such as "$orderId.$attempt".
     *
     * @param array{requestId: string, merchantOrderId: string, amount: int, currencyISOCode: string, notificationUrl: string,
     *              returnUrl: string, cancelUrl: string, origin: string, siteName?: string, locale?: string,
     *              customFields?: list<array{key: string, value: string}>} $session amount in cents
     * @return array{sessionId: string, redirectUrl: string, sessionState: string}
     * @throws SvcPaymentsError 400 names every bad field, 401 explains the wrong header, 409 another request with this requestId
     */
    public function createSession(array $session): array
    {
        $answer = $this->repeatably('POST', '/sessions', $session);
        return $answer + ['sessionState' => 'open'];
    }

    /** A session with its `sessionState`. @throws SvcPaymentsError 404 unless it is yours */
    public function getSession(string $sessionId): array
    {
        return $this->repeatably('GET', '/sessions/' . rawurlencode($sessionId));
    }

    /** The final payments of a session, failed ones included, the newest first. */
    public function listPayments(string $sessionId): array
    {
        return $this->repeatably('GET', '/payments?sessionId=' . rawurlencode($sessionId))['payments'];
    }

    /**
     * All notifications for your server, the oldest first, at most 100. Store `after` and continue from it next time; '' is the
     * beginning. Each `id` is the webhook-id: apply each once, from a webhook or from here.
     *
     * @return array{notifications: list<array{id: string, notification: array}>, after: string, hasMore: bool}
     */
    public function listNotifications(string $after = ''): array
    {
        return $this->repeatably('GET', '/notifications?after=' . rawurlencode($after)) + ['after' => $after];
    }

    /**
     * The deliveries to your endpoints, the newest first, at most 50: `state`, `lastAttempt` with your answer, `nextAttemptUTCDate`.
     *
     * @param string $state pending, delivered, superseded, exhausted, gone; '' for all
     * @return array{deliveries: list<array>, hasMore: bool, after?: string}
     */
    public function listDeliveries(string $state = '', string $after = ''): array
    {
        return $this->repeatably('GET', '/deliveries?' . http_build_query(['state' => $state, 'after' => $after]));
    }

    /** Sends a delivery again now. Does not retry. @throws SvcPaymentsError 404; 409 while it is being sent; 429 within 10 s of the last time */
    public function resendDelivery(string $id): void
    {
        $this->once('POST', '/deliveries/' . rawurlencode($id) . '/resend', null);
    }

    /** Cancels the session, so that it accepts no payment. Does not retry. @throws SvcPaymentsError 409 after a payment or during one */
    public function cancelSession(string $sessionId): void
    {
        $this->once('DELETE', '/sessions/' . rawurlencode($sessionId), null);
    }

    /**
     * Verifies and reads a webhook: the signature over the bytes as received, then its age, then the body. Compare amount and
     * currency with your own order before you mark it as paid, and apply each paymentReference once.
     *
     * @param array<string, string> $headers in any case, as from getallheaders()
     * @param string                $rawBody file_get_contents('php://input'), not parsed and encoded again
     * @param list<string>          $secrets whsec_…; two during a change of the secret
     * @return array the notification: merchantOrderId, amount (cents), currencyISOCode, paymentStatus, paymentReference, …
     * @throws SvcWebhookError
     */
    public static function verifyWebhook(
        array $headers,
        string $rawBody,
        #[SensitiveParameter] array $secrets,
        ?int $now = null,
    ): array {
        $headers = array_change_key_case($headers, CASE_LOWER);
        foreach (['webhook-id', 'webhook-timestamp', 'webhook-signature'] as $name) {
            if (!is_string($headers[$name] ?? null) || $headers[$name] === '' || strlen($headers[$name]) > 4096) {
                throw new SvcWebhookError('bad-headers', "the header $name is missing or unreadable");
            }
        }
        if (!preg_match('/^\d{1,11}$/D', $headers['webhook-timestamp'])) {
            throw new SvcWebhookError('bad-headers', 'webhook-timestamp is not a time');
        }
        $age = ($now ?? time()) - (int) $headers['webhook-timestamp'];
        if ($age > self::TOLERANCE_SECONDS) throw new SvcWebhookError('too-old', "it was signed too long ago: $age s from now. Is the clock of this server right?");
        if ($age < -self::TOLERANCE_SECONDS) throw new SvcWebhookError('too-new', 'it was signed in the future: ' . -$age . ' s from now. Is the clock of this server right?');
        if (strlen($rawBody) > self::MAX_BODY_BYTES) throw new SvcWebhookError('bad-body', 'the body is too large');

        $signed = "{$headers['webhook-id']}.{$headers['webhook-timestamp']}.$rawBody";
        if (!self::isSigned($signed, explode(' ', $headers['webhook-signature'], 16), $secrets)) {
            throw new SvcWebhookError('bad-signature', 'no signature matches the body and the secret. Pass the body as it was received, and the secret of the site and mode');
        }
        $payment = json_decode($rawBody, true);
        foreach (['sessionId', 'currencyISOCode', 'merchantOrderId', 'paymentReference', 'paymentUTCDate'] as $field) {
            if (!is_string($payment[$field] ?? null)) throw new SvcWebhookError('bad-body', "$field is missing");
        }
        if (!is_int($payment['amount'] ?? null)) throw new SvcWebhookError('bad-body', 'amount is no whole number of cents');
        // Text or number: the API allows both.
        $payment['paymentStatus'] = [1 => 'Success', 2 => 'Failed'][$payment['paymentStatus'] ?? 0] ?? $payment['paymentStatus'] ?? null;
        if (!in_array($payment['paymentStatus'], ['Success', 'Failed'], true)) {
            throw new SvcWebhookError('bad-body', 'paymentStatus is missing');
        }
        return $payment;
    }

    /**
     * @param list<string> $signatures
     * @param list<string> $secrets
     */
    private static function isSigned(string $signed, array $signatures, array $secrets): bool
    {
        if ($secrets === []) throw new SvcWebhookError('bad-secret', 'no webhook secret was given');
        $isSigned = false;
        foreach ($secrets as $secret) {
            $key = base64_decode(preg_replace('/^whsec_/', '', $secret), true);
            if ($key === false || $key === '') throw new SvcWebhookError('bad-secret', 'a webhook secret is not whsec_ and base64: copy the complete secret');
            $expected = 'v1,' . base64_encode(hash_hmac('sha256', $signed, $key, true));
            foreach ($signatures as $signature) $isSigned = hash_equals($expected, $signature) || $isSigned;
        }
        return $isSigned;
    }

    /** Retries the call without an answer, and after 429, 502, 503, 504, or 409 while an equal call still runs. */
    private function repeatably(string $method, string $path, ?array $body = null): array
    {
        for ($try = 1; ; $try++) {
            try {
                return $this->once($method, $path, $body);
            } catch (SvcPaymentsError $error) {
                if (!$error->retryable || $try === self::MAX_TRIES) throw $error;
                usleep((int) (250_000 * 2 ** ($try - 1) * (0.75 + mt_rand() / mt_getrandmax() / 2)));
            }
        }
    }

    private function once(string $method, string $path, ?array $body): array
    {
        $call = curl_init($this->base . $path);
        $answered = [];
        curl_setopt_array($call, [
            CURLOPT_CUSTOMREQUEST => $method,
            CURLOPT_HTTPHEADER => [...$this->headers, ...($body === null ? [] : ['content-type: application/json'])],
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_TIMEOUT => $this->timeoutSeconds,
            // A redirect would send the key to its target.
            CURLOPT_FOLLOWLOCATION => false,
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
            CURLOPT_HEADERFUNCTION => static function ($_, string $line) use (&$answered): int {
                [$name, $value] = explode(':', $line, 2) + [1 => ''];
                $answered[strtolower(trim($name))] = trim($value);
                return strlen($line);
            },
        ]);
        if ($body !== null) {
            curl_setopt($call, CURLOPT_POSTFIELDS, json_encode($body, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES));
        }
        $text = curl_exec($call);
        $status = curl_getinfo($call, CURLINFO_RESPONSE_CODE);
        $failure = curl_error($call);
        if ($text === false) throw new SvcPaymentsError(0, [$failure], true);
        $answer = json_decode($text, true);
        if ($status >= 200 && $status < 300 && is_array($answer)) return $answer;
        $messages = array_column(is_array($answer['errors'] ?? null) ? $answer['errors'] : [], 'message');
        $retryable = in_array($status, [429, 502, 503, 504], true) || ($status === 409 && isset($answered['retry-after']));
        $type = preg_match('~^<(https?://[^<>\s]+)>; rel="help"$~D', $answered['link'] ?? '', $page) ? $page[1] : null;
        $requestId = $answered['x-request-id'] ?? null;
        throw new SvcPaymentsError($status, $messages ?: ['the answer cannot be read'], $retryable, $requestId, $type);
    }
}
