extension PayloadFormat {
  /// The formats of static payload types, which may be used without `a=rtpmap` (RFC 3551, 6).
  private static let statics: [UInt8: (name: String, clockRate: UInt32, channels: Int?)] = [
    0: ("PCMU", 8_000, nil), 3: ("GSM", 8_000, nil), 4: ("G723", 8_000, nil), 5: ("DVI4", 8_000, nil),
    6: ("DVI4", 16_000, nil), 7: ("LPC", 8_000, nil), 8: ("PCMA", 8_000, nil), 9: ("G722", 8_000, nil),
    10: ("L16", 44_100, 2), 11: ("L16", 44_100, nil), 12: ("QCELP", 8_000, nil), 13: ("CN", 8_000, nil),
    14: ("MPA", 90_000, nil), 15: ("G728", 8_000, nil), 16: ("DVI4", 11_025, nil), 17: ("DVI4", 22_050, nil),
    18: ("G729", 8_000, nil), 25: ("CelB", 90_000, nil), 26: ("JPEG", 90_000, nil), 28: ("nv", 90_000, nil),
    31: ("H261", 90_000, nil), 32: ("MPV", 90_000, nil), 33: ("MP2T", 90_000, nil), 34: ("H263", 90_000, nil),
  ]

  /// The format of a static payload type; nil for another.
  init?(staticType payloadType: UInt8) {
    guard let format = Self.statics[payloadType] else { return nil }
    self.init(
      payloadType: payloadType, name: format.name, clockRate: format.clockRate, channels: format.channels)
  }
}
