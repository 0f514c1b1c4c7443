internal import NIOCore

/// For whoever need not know why a packet is of no use.
extension SRTPSession {
  /// Decrypts in place; false if the packet is not to be used.
  func unprotect(_ packet: inout ByteBuffer, isControl: Bool) -> Bool {
    do {
      if isControl { try unprotectRTCP(&packet) } else { try unprotectRTP(&packet) }
      return true
    } catch {
      return false
    }
  }

  /// Encrypts in place; false if it could not be.
  func protect(_ packet: inout ByteBuffer, isControl: Bool) -> Bool {
    do {
      if isControl { try protectRTCP(&packet) } else { try protectRTP(&packet) }
      return true
    } catch {
      return false
    }
  }
}
