/// G.711 by tables: an octet is a sample of 8 kHz, from -1 to 1.
enum G711 {
  /// The values of the µ-law (ITU-T G.711, table 2).
  static let muLaw: [Float] = (0..<256).map { code in
    let bits = ~code & 0xFF
    let magnitude = (((bits & 0x0F) << 3) + 0x84) << ((bits & 0x70) >> 4) - 0x84
    return Float(bits & 0x80 == 0 ? magnitude : -magnitude) / 32_768
  }

  /// The values of the A-law (ITU-T G.711, table 1).
  static let aLaw: [Float] = (0..<256).map { code in
    let bits = code ^ 0x55
    let (exponent, mantissa) = ((bits & 0x70) >> 4, bits & 0x0F)
    let magnitude = exponent == 0 ? mantissa << 4 + 8 : (mantissa << 4 + 0x108) << (exponent - 1)
    return Float(bits & 0x80 == 0 ? -magnitude : magnitude) / 32_768
  }
}
