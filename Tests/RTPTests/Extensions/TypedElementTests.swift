import NIOCore
import RTP
import TestSupport
import Testing

@Suite("Typed elements of header extensions")
struct TypedElementTests {
  @Test("an audio packet of Chromium has mid, audio level, send time and transport-wide sequence number")
  func audio() throws {
    let extensions = try RTPPacket(parsing: Fixture.bytes("rtp/opus.bin", in: .module)).extensions
    #expect(extensions.audioLevel(1) == AudioLevel(voiceActivity: true, level: 127))
    #expect(extensions.absoluteSendTime(2) == 0x3F195B)
    #expect(extensions.transportSequenceNumber(3) == 1)
    #expect(extensions.text(4) == "0")
  }

  @Test("a simulcast packet of Chromium has its rid in a two-byte header")
  func simulcast() throws {
    let extensions = try RTPPacket(parsing: Fixture.bytes("rtp/vp8-two-byte-extensions.bin", in: .module)).extensions
    #expect(extensions.text(4) == "1")
    #expect(extensions.text(10) == "q")
    #expect(extensions.transportSequenceNumber(3) == 4)
    #expect(extensions.absoluteSendTime(2) == 0xF3B026)
  }

  @Test("a retransmission of a simulcast layer has the id of the repaired stream")
  func repairedStream() throws {
    let packet = try RTPPacket(parsing: Fixture.bytes("rtp/rtx-two-byte-extensions.bin", in: .module))
    #expect(packet.extensions.absoluteSendTime(2) == 0xF3B786)
    #expect(packet.extensions.transportSequenceNumber(3) == 5)
    #expect(packet.extensions.elements.map(\.id).contains(11) == (packet.extensions.text(11) != nil))
  }

  @Test("each element is written as in its specification")
  func writing() {
    var extensions = RTPHeaderExtensions()
    extensions.setText("ab", 4)
    extensions.setAudioLevel(AudioLevel(voiceActivity: true, level: 16), 1)
    extensions.setAbsoluteSendTime(0x12_345678, 2)
    extensions.setTransportSequenceNumber(0xABCD, 3)
    #expect(
      written { extensions.write(into: &$0) } == bytes("BEDE 0003 416162 1090 22345678 31ABCD"))
    #expect(extensions.text(4) == "ab")
    #expect(extensions.audioLevel(1)?.level == 16)
    #expect(extensions.absoluteSendTime(2) == 0x345678)
    #expect(extensions.transportSequenceNumber(3) == 0xABCD)
    extensions.setText(nil, 4)
    #expect(extensions.text(4) == nil)
  }

  @Test("an element of the wrong size reads as absent")
  func wrongSize() {
    var extensions = RTPHeaderExtensions()
    extensions[1] = bytes("0102030405")
    #expect(extensions.audioLevel(1) == nil)
    #expect(extensions.absoluteSendTime(1) == nil)
    #expect(extensions.transportSequenceNumber(1) == nil)
  }

  @Test("version 2 of the transport-wide sequence number is parsed")
  func transportNumberVersion2() {
    var extensions = RTPHeaderExtensions()
    extensions[3] = bytes("ABCD 8001")
    #expect(extensions.transportSequenceNumber(3) == 0xABCD)
  }

  @Test("an extension that was not negotiated reads as absent and stores nothing")
  func notNegotiated() {
    var extensions = RTPHeaderExtensions()
    extensions.setText("a", nil)
    extensions.setTransportSequenceNumber(1, nil)
    extensions.setAbsoluteSendTime(1, nil)
    #expect(!extensions.isPresent)
    #expect(extensions.text(nil) == nil)
  }

  @Test("a text too long for an element is not stored")
  func longText() {
    var extensions = RTPHeaderExtensions()
    extensions.setText(String(repeating: "x", count: 256), 4)
    #expect(extensions.text(4) == nil)
    extensions.setText(String(repeating: "x", count: 255), 4)
    #expect(extensions.text(4)?.count == 255)
  }

  @Test("a mid or rid that is not ASCII reads as absent")
  func outsideASCII() {
    var extensions = RTPHeaderExtensions()
    extensions.setText("é", 4)
    #expect(extensions.elements.map(\.id) == [4])
    #expect(extensions.text(4) == nil)
  }
}
