import NIOCore

/// Typed access to the supported elements, by the negotiated id of each.
///
/// Reading returns nil when the element is absent or has the wrong size; setting nil removes it. A nil id, of an
/// extension that was not negotiated, reads as absent and stores nothing.
extension RTPHeaderExtensions {
  /// Returns the text of an SDES item in a header (RFC 7941): mid (RFC 9143), rid and repaired rid (RFC 8852). Nil for one
  /// that is not ASCII, as all these are: others take long to compare.
  package func text(_ id: UInt8?) -> String? {
    guard let id, let element = element(id),
      let bytes = content.viewBytes(at: element.valueIndex, length: element.valueCount),
      bytes.allSatisfy({ $0 < 0x80 })
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Sets a text of at most 255 bytes of UTF-8.
  package mutating func setText(_ text: String?, _ id: UInt8?) {
    guard let id else { return }
    guard let text else { return remove(id) }
    if let index = allocateElement(id: id, count: text.utf8.count) { content.setString(text, at: index) }
  }

  /// Returns the audio level of the packet (RFC 6464).
  package func audioLevel(_ id: UInt8?) -> AudioLevel? {
    guard let id, let element = element(id), element.valueCount == 1 else { return nil }
    return content.getInteger(at: element.valueIndex, as: UInt8.self).map(AudioLevel.init(byte:))
  }

  package mutating func setAudioLevel(_ level: AudioLevel?, _ id: UInt8?) {
    set(level?.byte, id)
  }

  /// Returns the transport-wide sequence number (draft-holmer-rmcat-transport-wide-cc-extensions-01, 2).
  package func transportSequenceNumber(_ id: UInt8?) -> UInt16? {
    // Version 2 of the extension appends a two-byte feedback request; the number comes first in both.
    guard let id, let element = element(id), element.valueCount == 2 || element.valueCount == 4 else { return nil }
    return content.getInteger(at: element.valueIndex, as: UInt16.self)
  }

  package mutating func setTransportSequenceNumber(_ number: UInt16?, _ id: UInt8?) {
    set(number, id)
  }

  /// Returns the send time in 2⁻¹⁸ seconds modulo 64 s (24 bits; see `NTPTime.absoluteSendTime`).
  package func absoluteSendTime(_ id: UInt8?) -> UInt32? {
    guard let id, let element = element(id), element.valueCount == 3 else { return nil }
    var value = content.getSlice(at: element.valueIndex, length: 3)
    return value?.readUInt24()
  }

  package mutating func setAbsoluteSendTime(_ time: UInt32?, _ id: UInt8?) {
    guard let id else { return }
    guard let time else { return remove(id) }
    guard let index = allocateElement(id: id, count: 3) else { return }
    content.setInteger(UInt8(truncatingIfNeeded: time >> 16), at: index)
    content.setInteger(UInt16(truncatingIfNeeded: time), at: index + 1)
  }

  private mutating func set<Value: FixedWidthInteger>(_ value: Value?, _ id: UInt8?) {
    guard let id else { return }
    guard let value else { return remove(id) }
    if let index = allocateElement(id: id, count: MemoryLayout<Value>.size) { content.setInteger(value, at: index) }
  }
}

/// The audio level of one packet (RFC 6464, 3).
package struct AudioLevel: Sendable, Hashable {
  /// Whether the sender detects voice activity.
  package var voiceActivity: Bool
  /// The level in decibels below the maximum: 0 is loudest, 127 is silence.
  package var level: UInt8

  package init(voiceActivity: Bool, level: UInt8) {
    self.voiceActivity = voiceActivity
    self.level = min(127, level)
  }

  init(byte: UInt8) {
    self.init(voiceActivity: byte & 0x80 != 0, level: byte & 0x7F)
  }

  var byte: UInt8 { (voiceActivity ? 0x80 : 0) | (level & 0x7F) }
}
