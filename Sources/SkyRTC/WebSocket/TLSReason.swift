import Foundation
import NIOSSL

/// What went wrong in TLS, without the source paths that BoringSSL puts into its errors.
enum TLSReason {
  static func text(_ error: any Error) -> String {
    switch error {
    case let error as NIOSSLExtraError: error.description.printable()
    case NIOSSLError.handshakeFailed(let inner): "handshake failed (\(code(inner)))"
    case let error as NIOSSLError: String(describing: error).prefix { $0 != "(" }.description
    default: "\(error)"
    }
  }

  /// BoringSSL's own words are the last part of `Error: 268435581 error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED at …`.
  private static func code(_ error: BoringSSLError) -> String {
    let text = "\(error)"
    guard let start = text.range(of: "OPENSSL_internal:")?.upperBound else { return "no reason given" }
    let words = text[start...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    return words.lowercased().split(separator: "_").joined(separator: " ")
  }
}
