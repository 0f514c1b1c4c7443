package import FoundationEssentials
internal import JSON
package import Media

/// A token that is sent with every request until it expires.
package struct AccessToken: Sendable {
  let secret: Secret
  /// For the next token of the same anonymous user.
  let refresh: Secret?
  /// 2 minutes to a day after it was received; an hour if the response does not say it.
  package let expires: MonotonicInstant

  /// Whether it is valid for a further minute: a token must not expire on its way.
  func isFresh(now: MonotonicInstant) -> Bool { now < expires - .seconds(60) }

  /// Parses the responses of `accounts:signUp`, of `securetoken…/token` and of OAuth's token address (RFC 6749, 5.1);
  /// nil if there is no token.
  package init?(parsing body: Data, now: MonotonicInstant) {
    guard let response = try? JSONReader.decode(Response.self, from: body, within: .init(values: 256)),
      let token = (response.idToken ?? response.refreshedIDToken ?? response.accessToken)?.string,
      (1...16_384).contains(token.utf8.count), token.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
    secret = Secret(token)
    refresh = (response.refreshToken ?? response.nextRefreshToken).map { Secret($0.string) }
    let seconds = response.expiresIn?.seconds ?? response.lifetime?.seconds ?? 3_600
    expires = now + .seconds(min(max(seconds, 120), 86_400))
  }

  private struct Response: Decodable {
    enum CodingKeys: String, CodingKey {
      case idToken, refreshToken, expiresIn
      case refreshedIDToken = "id_token"
      case accessToken = "access_token"
      case nextRefreshToken = "refresh_token"
      case lifetime = "expires_in"
    }

    let idToken: ASCIIText?
    let refreshedIDToken: ASCIIText?
    let accessToken: ASCIIText?
    let refreshToken: ASCIIText?
    let nextRefreshToken: ASCIIText?
    let expiresIn: Lifetime?
    let lifetime: Lifetime?
  }

  /// Some servers write a number, some its text.
  private struct Lifetime: Decodable {
    let seconds: Int64?

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      let text = try? container.decode(ASCIIText.self).string
      seconds = text.flatMap { Int64($0) } ?? (try? container.decode(Int64.self))
    }
  }
}
