"""Neural networks: modules, their parameters, and the functions they call."""
from . import attention, functional, grad, init, modules, parallel, parameter, utils  # noqa: F401
from .activation import *  # noqa: F401,F403
from .adaptive import AdaptiveLogSoftmaxWithLoss  # noqa: F401
from .multihead_attention import MultiheadAttention  # noqa: F401
from .batchnorm import (BatchNorm1d, BatchNorm2d, BatchNorm3d, GroupNorm, InstanceNorm1d, InstanceNorm2d,  # noqa: F401
                        InstanceNorm3d, CrossMapLRN2d, LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d,
                        LazyInstanceNorm1d, LazyInstanceNorm2d, LazyInstanceNorm3d, LocalResponseNorm)
from .bilinear import Bilinear  # noqa: F401
from .container import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential  # noqa: F401
from .conv import (Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d,  # noqa: F401
                   LazyConv1d, LazyConv2d, LazyConv3d, LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d)
from .distance import CosineSimilarity, PairwiseDistance  # noqa: F401
from .dropout import AlphaDropout, Dropout, Dropout1d, Dropout2d, Dropout3d, FeatureAlphaDropout  # noqa: F401
from .linear import Flatten, Identity, LazyLinear, Linear, Unflatten  # noqa: F401
from .loss import (BCELoss, BCEWithLogitsLoss, CrossEntropyLoss, HuberLoss, KLDivLoss, L1Loss, MSELoss,  # noqa: F401
                   NLLLoss, SmoothL1Loss)
from .loss_ranking import *  # noqa: F401,F403
from .module import Module  # noqa: F401
from .normalization import LayerNorm, RMSNorm  # noqa: F401
from .parallel import DataParallel  # noqa: F401
from .padding import (CircularPad1d, CircularPad2d, CircularPad3d, ConstantPad1d, ConstantPad2d,  # noqa: F401
                      ConstantPad3d, ReflectionPad1d, ReflectionPad2d, ReflectionPad3d, ReplicationPad1d,
                      ReplicationPad2d, ReplicationPad3d, ZeroPad1d, ZeroPad2d, ZeroPad3d)
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter  # noqa: F401
from .pooling import (AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d, AdaptiveMaxPool1d,  # noqa: F401
                      AdaptiveMaxPool2d, AdaptiveMaxPool3d, AvgPool1d, AvgPool2d, AvgPool3d, FractionalMaxPool2d,
                      FractionalMaxPool3d, LPPool1d, LPPool2d,
                      LPPool3d, MaxPool1d, MaxPool2d, MaxPool3d, MaxUnpool1d, MaxUnpool2d, MaxUnpool3d)
from .rnn import *  # noqa: F401,F403
from .sparse import Embedding, EmbeddingBag  # noqa: F401
from .sync_batchnorm import SyncBatchNorm  # noqa: F401
from .transformer import *  # noqa: F401,F403
from .upsampling import (ChannelShuffle, Fold, PixelShuffle, PixelUnshuffle, Unfold, Upsample,  # noqa: F401
                         UpsamplingBilinear2d, UpsamplingNearest2d)
