public import BotPeer
public import Signalling

extension DataChannelOptions {
  /// The data channels that clients of a signalling system open and expect.
  public init(_ channels: SignallingCapabilities.DataChannels) {
    self.init(
      opened: channels.labels.map { DataChannelConfiguration(label: $0) },
      opensWhenAnswering: channels.opensWhenAnswering)
  }
}
