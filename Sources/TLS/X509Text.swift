internal import COpenSSL
internal import Media

/// Texts of certificates; all are printable.
package enum X509Text {
  /// How many names of one certificate are read.
  private static let maximumNames = 100

  /// Flags of `X509_NAME_print_ex`: UTF-8, control characters escaped, separated by commas (`ASN1_STRFLGS_ESC_CTRL`,
  /// `ASN1_STRFLGS_UTF8_CONVERT`, `XN_FLAG_SEP_CPLUS_SPC`, `XN_FLAG_SPC_EQ`).
  private static let nameFlags: UInt = 0x2 | 0x10 | 2 << 16 | 1 << 23

  /// Returns a distinguished name, for example `CN = turn.example.org`.
  package static func name(_ name: OpaquePointer?) -> String {
    guard let name, let output = BIO_new(BIO_s_mem()) else { return "" }
    defer { BIO_free(output) }
    X509_NAME_print_ex(output, name, 0, nameFlags)
    var text = [UInt8](repeating: 0, count: 1_024)
    let count = BIO_read(output, &text, Int32(text.count))
    return String(decoding: text.prefix(max(0, Int(count))), as: UTF8.self).printable()
  }

  /// Returns the DNS names and addresses that a certificate is for: its subject alternative names (RFC 5280, 4.2.1.6), at most
  /// 100.
  package static func names(of certificate: OpaquePointer) -> [String] {
    guard let list = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else { return [] }
    let names = OpaquePointer(list)
    defer { GENERAL_NAMES_free(names) }
    var result: [String] = []
    for index in 0..<max(0, min(OPENSSL_sk_num(names), Int32(maximumNames))) {
      guard let entry = OPENSSL_sk_value(names, index) else { continue }
      var type: Int32 = 0
      guard let value = GENERAL_NAME_get0_value(entry.assumingMemoryBound(to: GENERAL_NAME.self), &type) else {
        continue
      }
      let string = value.assumingMemoryBound(to: ASN1_STRING.self)
      switch type {
      case GEN_DNS: result.append(text(string))
      case GEN_IPADD: if let address = address(string) { result.append(address) }
      default: break
      }
    }
    return result
  }

  private static func bytes(_ string: UnsafePointer<ASN1_STRING>) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: max(0, Int(ASN1_STRING_length(string))))
  }

  private static func text(_ string: UnsafePointer<ASN1_STRING>) -> String {
    String(decoding: bytes(string), as: UTF8.self).printable(utf8Bytes: 253)
  }

  private static func address(_ string: UnsafePointer<ASN1_STRING>) -> String? {
    let bytes = bytes(string)
    switch bytes.count {
    case 4: return bytes.map { "\($0)" }.joined(separator: ".")
    case 16:
      return stride(from: 0, to: 16, by: 2).map { String(Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]), radix: 16) }
        .joined(separator: ":")
    default: return nil
    }
  }
}
