package import HTTPTransport

/// A request to which a signalling server responds, so that a program can measure whether it is reached.
package enum ServerProbe: Sendable, Hashable {
  /// The request for a WebSocket, with the value of `Sec-WebSocket-Protocol` or nil (RFC 6455, 4.1).
  case webSocket(WebSocketURL, subprotocol: String?)
  /// An HTTP request that begins nothing, such as `OPTIONS`.
  case http(HTTPURL, method: String)

  /// A request at the URL of an address.
  package static func webSocket(
    at address: SignallingAddress, subprotocol: String? = nil
  ) throws(SignallingSettingsError) -> ServerProbe {
    do throws(WebSocketURL.ParseError) {
      return .webSocket(try WebSocketURL(address.url), subprotocol: subprotocol)
    } catch {
      throw SignallingSettingsError(error.description)
    }
  }

  /// A request at the URL of an address. `OPTIONS` begins no session.
  package static func http(
    at address: SignallingAddress, method: String = "OPTIONS"
  ) throws(SignallingSettingsError) -> ServerProbe {
    .http(try address.httpURL(), method: method)
  }
}

extension SignallingAddress {
  /// The URL of a server that speaks HTTP.
  package func httpURL() throws(SignallingSettingsError) -> HTTPURL {
    do throws(HTTPURL.ParseError) {
      return try HTTPURL(url)
    } catch {
      throw SignallingSettingsError(error.description)
    }
  }
}
