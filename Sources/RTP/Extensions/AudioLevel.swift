/// How loud the sound of one packet is (RFC 6464, 3).
package struct AudioLevel: Sendable, Hashable {
  /// Whether the sender believes that somebody speaks.
  package var hasVoice: Bool
  /// Decibels below the loudest possible: 0 is loudest, 127 is silence.
  package var attenuation: UInt8

  package init(hasVoice: Bool, attenuation: UInt8) {
    self.hasVoice = hasVoice
    self.attenuation = min(127, attenuation)
  }

  init(byte: UInt8) {
    self.init(hasVoice: byte & 0x80 != 0, attenuation: byte & 0x7F)
  }

  var byte: UInt8 { (hasVoice ? 0x80 : 0) | (attenuation & 0x7F) }
}
