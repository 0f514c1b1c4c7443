/// Random text of letters and digits, about 6 bits a character: fit for ICE credentials (RFC 8839, 5.4), for tokens
/// such as those of `a=msid` (RFC 8830) and for canonical names.
enum RandomText {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

  static func make(length: Int, using generator: inout some RandomNumberGenerator) -> String {
    var text = ""
    for _ in 0..<length {
      let place = Int.random(in: 0..<alphabet.count, using: &generator)
      text.unicodeScalars.append(Unicode.Scalar(alphabet[place]))
    }
    return text
  }
}
