internal import ICE
public import Signalling

extension ICEServer {
  /// Whether it is a TURN server without a user name and a password.
  public var needsCredentials: Bool {
    guard username == nil, let parsed = try? ICEServerURL(parsing: url) else { return false }
    return parsed.kind == .turn && parsed.credentials == nil
  }

  /// Checks the URL: `stun:host[:port]` (RFC 7064), `turn:host[:port][?transport=udp|tcp]` or `turns:host[:port]` (RFC
  /// 7065), also with `user:password@` before the host.
  public func validate() throws(Peer.StartError) {
    do {
      _ = try ICEServerURL(parsing: url)
    } catch {
      throw .badIceServer(shown, reason: "\(error)")
    }
  }

  /// Returns the server with a user name and a password that it accepts for a limited time, for a TURN server that shares
  /// a secret with us (draft-uberti-behave-turn-rest-00; `use-auth-secret` of coturn).
  ///
  /// - Parameters:
  ///   - name: any name, for the server's log.
  ///   - expiry: seconds since 1970.
  public func withTimeLimitedCredentials(secret: String, name: String, expiry: Int64) -> ICEServer {
    let credentials = TURNRestCredentials(secret: secret).credentials(name: name, expiry: expiry)
    return ICEServer(url: url, username: credentials.username, credential: credentials.password)
  }

  /// The URL without a user name and a password, for messages.
  var shown: String {
    guard let at = url.lastIndex(of: "@"), let colon = url.firstIndex(of: ":"), colon < at else { return url }
    return String(url[...colon]) + url[url.index(after: at)...]
  }
}
