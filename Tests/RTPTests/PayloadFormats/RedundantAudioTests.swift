import Bitstream
import NIOCore
import RTP
import Testing

@Suite("RED payloads")
struct RedundantAudioTests {
  @Test("copies come before the packet's own audio, each with its distance in ticks")
  func blocks() throws {
    // Payload type 111, 1,920 ticks before, 3 bytes; 111, 960 ticks, 1 byte; then 111.
    let bytes: [UInt8] = [0xEF, 0x1E, 0x00, 0x03, 0xEF, 0x0F, 0x00, 0x01, 0x6F, 1, 2, 3, 4, 5, 6]
    let audio = try RedundantAudio(parsing: ByteBuffer(bytes: bytes))
    #expect(audio.payloadType == 111)
    #expect(audio.copies.map(\.offset) == [1_920, 960])
    #expect(audio.copies.map(\.payloadType) == [111, 111])
    #expect(audio.copies.map { Array($0.payload.readableBytesView) } == [[1, 2, 3], [4]])
    #expect(Array(audio.payload.readableBytesView) == [5, 6])
    var again = ByteBuffer()
    audio.write(into: &again)
    #expect(Array(again.readableBytesView) == bytes)
  }

  @Test("a payload without copies has one byte before its audio")
  func alone() throws {
    let audio = try RedundantAudio(parsing: ByteBuffer(bytes: [0x6F, 7, 8]))
    #expect(audio.copies.isEmpty && audio.payloadType == 111)
    #expect(Array(audio.payload.readableBytesView) == [7, 8])
  }

  @Test("cut payloads and more than 32 blocks are refused")
  func refused() throws {
    for bytes: [UInt8] in [
      [], [0xEF], [0xEF, 0x0F, 0x00], [0xEF, 0x0F, 0x00, 0x02], [0xEF, 0x0F, 0x00, 0x02, 0x6F, 1],
    ] {
      #expect(throws: ParseError.self, "\(bytes)") { try RedundantAudio(parsing: ByteBuffer(bytes: bytes)) }
    }
    let header: [UInt8] = [0xEF, 0x0F, 0x00, 0x00]
    func payload(_ copies: Int) -> ByteBuffer {
      ByteBuffer(bytes: (0..<copies).flatMap { _ in header } + [0x6F, 1])
    }
    #expect(try RedundantAudio(parsing: payload(31)).copies.count == 31)
    #expect(throws: ParseError.self) { try RedundantAudio(parsing: payload(32)) }
  }
}
