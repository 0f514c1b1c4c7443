import COgg
import NIOCore

/// One logical Ogg stream (RFC 3533): packets in, pages out, implemented by libogg.
package final class OggStream {
  /// libogg could not allocate memory.
  package struct Failure: Error, CustomStringConvertible {
    package var description: String { "Cannot start an Ogg stream: out of memory." }
  }

  private let state: UnsafeMutablePointer<ogg_stream_state>
  private var packets: Int64 = 0

  /// - Parameter serial: distinguishes the stream from others in the same file.
  init(serial: Int32) throws(Failure) {
    state = .allocate(capacity: 1)
    state.initialize(to: ogg_stream_state())
    if ogg_stream_init(state, serial) != 0 { throw Failure() }
  }

  deinit {
    ogg_stream_clear(state)
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// Adds the next packet.
  ///
  /// - Parameters:
  ///   - granule: the granule position at the packet's end.
  ///   - isLast: whether the stream ends with it.
  func add(_ payload: ByteBuffer, granule: Int64, isLast: Bool = false) {
    var payload = payload
    payload.withUnsafeMutableReadableBytes { bytes in
      var packet = ogg_packet()
      packet.packet = bytes.bindMemory(to: UInt8.self).baseAddress
      packet.bytes = bytes.count
      packet.b_o_s = packets == 0 ? 1 : 0
      packet.e_o_s = isLast ? 1 : 0
      packet.granulepos = granule
      packet.packetno = packets
      // libogg copies the bytes.
      _ = ogg_stream_packetin(state, &packet)
    }
    packets += 1
  }

  /// Returns the full pages and, with `all`, a last page that is not full.
  func pages(all: Bool) -> [ByteBuffer] {
    var pages: [ByteBuffer] = []
    var page = ogg_page()
    while (all ? ogg_stream_flush(state, &page) : ogg_stream_pageout(state, &page)) != 0 {
      var bytes = ByteBuffer()
      bytes.writeBytes(UnsafeRawBufferPointer(start: page.header, count: page.header_len))
      bytes.writeBytes(UnsafeRawBufferPointer(start: page.body, count: page.body_len))
      pages.append(bytes)
    }
    return pages
  }
}
