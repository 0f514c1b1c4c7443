/// What an engine does only when it misbehaves.
enum Deed: Sendable {
  case hear(SignallingMessage)
  /// It goes the way of all that is said: through ``Misbehaviour/says(_:now:)``.
  case say(SignallingMessage)
  case offerAgain
  case changeSources
  case alterPackets(any PacketAlteration)
  case fallSilent
}
